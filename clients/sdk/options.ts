/** Validates the options of `createClient`; each error is a `TypeError` that names the option. */
import { requirePublicKeyPem } from '../../lib/formats/public-key.js';

export interface ClientOptions {
  /** URL of the service, such as `https://aos.example.com`; it may have a path. */
  server: string;
  /** Slug of the project, which is also the product of releases and licenses. */
  project: string;
  /** A token, or an intake key if only errors are reported. */
  token?: string;
  /** License key of this installation, which gives `downloadUpdate` access to the release store. */
  licenseKey?: string;
  /** SPKI, PEM. If set, license answers are trusted only when signed by this key or a successor. */
  licensePublicKey?: string | readonly string[];
  /** Accepts the unsigned cache of schema 2 once more. Default: false. */
  legacyCache?: boolean;
  /**
   * Default: `SVC_MACHINE_ID`, else derived from the project and the system's machine id, as in the
   * update agent.
   */
  machineId?: string;
  /** Milliseconds until a request counts as failed. */
  timeoutMs?: number;
  /**
   * Milliseconds since 1970, for tests of an application's grace period. Default: the system's
   * time.
   */
  now?: () => number;
}

export interface ClientSettings {
  server: URL;
  project: string;
  token: string | null;
  licenseKey: string | null;
  /** When empty, license answers are not verified. */
  licenseKeys: readonly string[];
  /** True when an unsigned cached answer counts. */
  legacyCache: boolean;
  machineId: string | null;
  timeoutMs: number;
  now: () => number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MAX_MACHINE_ID_LENGTH = 128;

/** @throws TypeError, KeyRefused */
export function parseOptions(options: ClientOptions): ClientSettings {
  const {
    server,
    project,
    token,
    licenseKey,
    licensePublicKey = [],
    machineId,
    timeoutMs = DEFAULT_TIMEOUT_MS,
  } = options;
  const { legacyCache = false } = options;
  if (typeof project !== 'string' || !SLUG_PATTERN.test(project))
    throw new TypeError('project must be a slug such as shop: a-z, 0-9, dot, hyphen and underscore');
  for (const [name, text] of Object.entries({ token, licenseKey, machineId }))
    if (text !== undefined && (typeof text !== 'string' || text === ''))
      throw new TypeError(`${name} must be a non-empty string, or omitted`);
  if (machineId !== undefined && machineId.length > MAX_MACHINE_ID_LENGTH)
    throw new TypeError(`machineId must have at most ${MAX_MACHINE_ID_LENGTH} characters`);
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0) throw new TypeError('timeoutMs must be a number above 0');
  if (typeof legacyCache !== 'boolean') throw new TypeError('legacyCache must be true or false');
  const licenseKeys = [licensePublicKey].flat();
  for (const pem of licenseKeys) requirePublicKeyPem(pem);
  return {
    server: parseServerUrl(server),
    project,
    token: token ?? null,
    licenseKey: licenseKey ?? null,
    licenseKeys,
    legacyCache: legacyCache || licenseKeys.length === 0,
    machineId: machineId ?? null,
    timeoutMs,
    now: options.now ?? Date.now,
  };
}

function parseServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new TypeError('server must be an address such as https://aos.example.com');
  if (url.username !== '' || url.password !== '') throw new TypeError('server must not contain credentials');
  return url;
}

/** Resolves a path below the server's URL, whose own path is retained. */
export const resolveServerPath = (server: URL, path: string): URL =>
  new URL(`${server.origin}${server.pathname.replace(/\/+$/, '')}${path}`);
