/**
 * Ports, handshakes, names and machines that answer or do not (ports/reach.ts). Names are resolved and judged as those
 * of HTTP requests are (outbound.ts), and the connection goes to an address that was judged.
 */
import { isIP } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { OutboundError, type EgressPolicy } from '../../../ports/outbound.js';
import type { Connected, ConnectRequest, EchoRequest, LookupRequest, Reach } from '../../../ports/reach.js';
import { Deadlines } from '../deadlines.js';
import { judgeAddress, judgeUrl } from '../egress.js';
import { Names } from '../names.js';
import { connection } from './connection.js';
import { echo } from './echo.js';
import { Records } from './records.js';

export interface ReachOptions {
  /** All addresses of a name. Default: hosts file and DNS (names.ts). */
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
  /** Further certificate authorities, PEM. */
  ca?: string;
  /** DNS servers of `lookup`, `address:port`. Default: the system's. */
  servers?: readonly string[];
}

const TIMEOUT_MS = 10_000;
/** Of the echo to this machine that shows whether one can be sent. */
const ECHO_TRIAL_MS = 1_000;
/** Programs that send echoes at a time: each is a process of the system. */
const ECHOES = 4;

export class NodeReach implements Reach {
  readonly #resolve: (hostname: string) => Promise<LookupAddress[]>;
  readonly #records: Records;
  #echoing = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly options: ReachOptions = {}) {
    const names = new Names();
    this.#resolve = options.resolve ?? ((hostname) => names.resolve(hostname));
    this.#records = new Records(options.servers);
  }

  /** Reads a host as URLs do, so that `0xa9fea9fe` and `169.254.43518` are the addresses that they lead to. */
  judge(host: string, policy: EgressPolicy): string | null {
    const bare = host.replace(/^\[|\]$/g, '');
    const verdict = judgeUrl(`http://${bare.includes(':') ? `[${bare}]` : bare}/`, policy);
    return verdict instanceof URL || verdict.fault !== 'blocked' ? null : verdict.reason;
  }

  connect({ host, port, tls = false, timeoutMs = TIMEOUT_MS, policy }: ConnectRequest): Promise<Connected> {
    return timed(timeoutMs, async (clock) => {
      const [address] = await clock.within(this.#addresses(host, policy));
      const { ca } = this.options;
      return connection({ address: address as string, port, servername: tls ? host : null, ca }, clock);
    });
  }

  lookup({ name, type, timeoutMs = TIMEOUT_MS }: LookupRequest): Promise<{ records: string[]; duration_ms: number }> {
    return timed(timeoutMs, async (clock) => ({ records: await clock.within(this.#records.of(name, type)) }));
  }

  echo({ host, timeoutMs = TIMEOUT_MS, policy }: EchoRequest): Promise<{ address: string; duration_ms: number }> {
    return timed(timeoutMs, async (clock) => {
      const [address = ''] = await clock.within(this.#addresses(host, policy));
      await this.#turn(clock);
      try {
        const duration_ms = await echo(address, timeoutMs);
        return { address, ...(duration_ms !== null && { duration_ms }) };
      } finally {
        this.#done();
      }
    });
  }

  async echoFault(): Promise<string | null> {
    try {
      await echo('127.0.0.1', ECHO_TRIAL_MS);
      return null;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return error.fault === 'unsupported' ? error.message : null;
    }
  }

  /** One of the few that echo at once. @throws OutboundError when the time is over first */
  async #turn(clock: Deadlines): Promise<void> {
    if (this.#echoing < ECHOES) {
      this.#echoing += 1;
      return;
    }
    let wake = (): void => undefined;
    const turn = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.push(wake);
    try {
      await clock.within(turn);
    } catch (error) {
      const at = this.#waiting.indexOf(wake);
      if (at >= 0) this.#waiting.splice(at, 1);
      else this.#done();
      throw error;
    }
  }

  /** Whoever waits takes the place over. */
  #done(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#echoing -= 1;
    else next();
  }

  /** Every address must pass. @throws OutboundError */
  async #addresses(host: string, policy: EgressPolicy): Promise<string[]> {
    let found: string[];
    try {
      found = isIP(host) === 0 ? (await this.#resolve(host)).map(({ address }) => address) : [host];
    } catch (error) {
      throw new OutboundError('dns', `${host} cannot be resolved: ${codeOf(error)}`);
    }
    if (found.length === 0) throw new OutboundError('dns', `${host} has no address`);
    for (const address of found) {
      const reason = judgeAddress(address, policy);
      if (reason !== null) throw new OutboundError('blocked', found[0] === host ? reason : `${host}: ${reason}`);
    }
    return found;
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';

/** Within its time; says how long it took, where `work` knows nothing better. */
async function timed<T extends object>(
  timeoutMs: number,
  work: (clock: Deadlines) => Promise<T>,
): Promise<T & { duration_ms: number }> {
  const started = performance.now();
  const clock = new Deadlines(timeoutMs, timeoutMs);
  try {
    const done = await work(clock);
    return { duration_ms: Math.round(performance.now() - started), ...done };
  } finally {
    clock.stop();
  }
}
