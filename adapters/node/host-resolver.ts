/**
 * Resolves host names without `getaddrinfo`, which blocks a thread of the small pool that file I/O
 * shares.
 */
import { Resolver } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { BoundedMap } from '../../lib/bounded-map.js';
import { SingleFlight } from '../../lib/single-flight.js';

export interface HostResolverOptions {
  servers?: readonly string[];
  hosts?: string;
  resolvConf?: string;
  timeoutMs?: number;
}

const IS_WINDOWS = process.platform === 'win32';
const HOSTS_PATH = IS_WINDOWS ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
const RESOLV_CONF_PATH = '/etc/resolv.conf';

/** A receiver that moves is found soon. */
const MAX_TTL_MS = 10_000;
/** RFC 8305 (the resolution delay of RFC 8305). */
const RESOLUTION_DELAY_MS = 50;
const FILE_CHECK_INTERVAL_MS = 2_000;
const MAX_CACHED_NAMES = 1_000;

type AddressRecord = { address: string; ttl: number };
type CodedError = Error & { code?: string };

/** c-ares: "no such record". */
export const NO_RECORD_CODES = new Set(['ENOTFOUND', 'ENODATA']);

const createCodedError = (code: string): CodedError => Object.assign(new Error(code), { code });
export const getErrorCode = (error: unknown): string => (error as CodedError).code ?? 'unknown error';
const toLookupAddress = (address: string): LookupAddress => ({ address, family: isIP(address) });

export function parseDnsServer(server: string): { server: string; address: string } {
  const bare = isIP(server) === 6 ? `[${server}]` : server;
  return { server: bare, address: bare.replace(/^\[([^\]]*)\].*$/, '$1').replace(/^([\d.]+):\d+$/, '$1') };
}

/**
 * IPv4 first.
 * @returns an empty list without records
 * @throws Error with the resolver's `code`
 */
export async function resolveAtServer(server: string, hostname: string, timeoutMs = 2_000): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  resolver.setServers([parseDnsServer(server).server]);
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const faults = answers.flatMap((answer) => (answer.status === 'rejected' ? [getErrorCode(answer.reason)] : []));
  const fault = faults.find((code) => !NO_RECORD_CODES.has(code));
  if (found.length === 0 && fault !== undefined) throw createCodedError(fault);
  return found.map(toLookupAddress);
}

export class HostResolver {
  readonly #resolver: Resolver;
  readonly #hosts: WatchedFile<Map<string, LookupAddress[]>>;
  readonly #search: WatchedFile<SearchList>;
  readonly #cache = new BoundedMap<LookupAddress[]>({ most: MAX_CACHED_NAMES });
  readonly #lookups = new SingleFlight<LookupAddress[]>();

  constructor({
    servers,
    hosts = HOSTS_PATH,
    resolvConf = RESOLV_CONF_PATH,
    timeoutMs = 2_000,
  }: HostResolverOptions = {}) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers !== undefined) this.#resolver.setServers([...servers]);
    this.#hosts = new WatchedFile(hosts, parseHosts);
    this.#search = new WatchedFile(resolvConf, parseSearchList);
  }

  /**
   * IPv4 first.
   * @throws Error with the resolver's `code`
   */
  async resolve(hostname: string): Promise<LookupAddress[]> {
    const name = hostname.toLowerCase();
    const known = this.#cache.get(name);
    return known ?? this.#lookups.share(name, () => this.#lookUp(name));
  }

  async #lookUp(hostname: string): Promise<LookupAddress[]> {
    const name = hostname.replace(/\.$/, '');
    const listed = (await this.#hosts.read()).get(name);
    if (listed !== undefined) return listed;
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'].map(toLookupAddress);
    let fault = createCodedError('ENOTFOUND');
    for (const candidate of name !== hostname ? [name] : listCandidateNames(name, await this.#search.read())) {
      try {
        const found = await this.#queryDns(candidate);
        const addresses = found.map(({ address }) => toLookupAddress(address));
        this.#cache.set(hostname, addresses, Math.min(...found.map(({ ttl }) => ttl * 1000), MAX_TTL_MS));
        return addresses;
      } catch (error) {
        fault = error as CodedError;
        if (!NO_RECORD_CODES.has(getErrorCode(error))) break;
      }
    }
    throw fault;
  }

  /** @throws the first failure when neither family has an address */
  async #queryDns(name: string): Promise<AddressRecord[]> {
    const families = [
      this.#resolver.resolve4(name, { ttl: true }) as Promise<AddressRecord[]>,
      this.#resolver.resolve6(name, { ttl: true }) as Promise<AddressRecord[]>,
    ];
    const all = Promise.allSettled(families);
    const first = await Promise.any(families).catch(() => null);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), RESOLUTION_DELAY_MS);
    });
    const settled = first === null ? await all : await Promise.race([all, late]);
    clearTimeout(timer);
    if (settled === null) return first ?? [];
    const found = settled.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (found.length > 0) return found;
    const faults = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason as CodedError] : []));
    throw (
      faults.find((fault) => !NO_RECORD_CODES.has(getErrorCode(fault))) ?? faults[0] ?? createCodedError('ENOTFOUND')
    );
  }
}

class WatchedFile<T> {
  #value: Promise<T> | null = null;
  #stamp = '';
  #looked = 0;

  constructor(
    private readonly path: string,
    private readonly parse: (text: string) => T,
  ) {}

  async read(): Promise<T> {
    if (this.#value === null || performance.now() - this.#looked > FILE_CHECK_INTERVAL_MS) {
      this.#looked = performance.now();
      const stamp = await stat(this.path).then(
        ({ mtimeMs, size }) => `${mtimeMs} ${size}`,
        () => 'none',
      );
      if (this.#value === null || stamp !== this.#stamp) {
        this.#stamp = stamp;
        this.#value = readFile(this.path, 'utf8').then(this.parse, () => this.parse(''));
      }
    }
    return this.#value;
  }
}

export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((one) => one.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), toLookupAddress(address)]);
    }
  }
  return hosts;
}

export interface SearchList {
  suffixes: readonly string[];
  ndots: number;
}

/** The last `search` or `domain` line wins. */
export function parseSearchList(text: string): SearchList {
  let suffixes: string[] = [];
  let ndots = 1;
  for (const line of text.split(/\r?\n/)) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') suffixes = values.filter((suffix) => suffix !== '.').slice(0, 6);
    if (keyword !== 'options') continue;
    for (const value of values) {
      const ndotsText = /^ndots:(\d{1,2})$/.exec(value)?.[1];
      if (ndotsText !== undefined) ndots = Math.min(15, Number(ndotsText));
    }
  }
  return { suffixes, ndots };
}

export function listCandidateNames(name: string, { suffixes, ndots }: SearchList): string[] {
  const searched = suffixes.map((suffix) => `${name}.${suffix}`);
  return name.split('.').length - 1 >= ndots ? [name, ...searched] : [...searched, name];
}
