/** Browser host: localStorage, fetch and WebCrypto. */
import type { Host } from '../host.js';
import { randomId } from '../runtime.js';
import type { Store } from '../store.js';
import { exchange } from './http.js';
import { keysFollowedHere, sha256Hex, verifyAnswer, verifyLicenseFile } from './license-file.js';
import { LocalStore } from './local-store.js';

export function browserHost(project: string): Host {
  const kept = new LocalStore(`aos:${project}:`);
  return {
    exchange,
    kept,
    queued: new LocalStore(`aos-errors:${project}:`),
    platform: 'any',
    identifyMachine: () => Promise.resolve({ id: keptId(kept), isStable: true }),
    sha256: (text) => sha256Hex(new TextEncoder().encode(text)),
    verifyAnswer,
    verifyLicenseFile,
    keysFollowed: keysFollowedHere,
    readText: () => Promise.resolve(null),
    show,
    onUncaught,
    processMetrics: () => null,
  };
}

/**
 * Returns a random id stored for the origin, in the format of a machine id, because pages cannot
 * identify the machine.
 */
function keptId(store: Store): string {
  const known = store.read('machine-id');
  if (known !== null && /^[0-9a-f]{64}$/.test(known)) return known;
  const fresh = randomId() + randomId();
  store.put('machine-id', fresh);
  return fresh;
}

const LONGEST_SHOWN = 1_000;

function show(value: unknown): string {
  try {
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
    return text.slice(0, LONGEST_SHOWN);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** Browser API used here, typed locally. */
interface Page {
  addEventListener(
    event: string,
    listener: (event: { error?: unknown; reason?: unknown; message?: unknown }) => void,
  ): void;
  removeEventListener: Page['addEventListener'];
}

function onUncaught(keep: (thrown: unknown) => void): () => void {
  const page = globalThis as unknown as Page;
  const error: Parameters<Page['addEventListener']>[1] = (event) => keep(event.error ?? event.message);
  const rejection: Parameters<Page['addEventListener']>[1] = ({ reason }) => keep(reason);
  page.addEventListener('error', error);
  page.addEventListener('unhandledrejection', rejection);
  return () => {
    page.removeEventListener('error', error);
    page.removeEventListener('unhandledrejection', rejection);
  };
}
