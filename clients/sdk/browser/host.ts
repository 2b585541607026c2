import type { ClientHost } from '../host.js';
import { createRandomId } from '../runtime.js';
import type { TextStore } from '../store.js';
import { sendRequest } from './http.js';
import { resolveFollowingKeys, computeSha256Hex, verifyAnswer, verifyLicenseFile } from './license-file.js';
import { LocalStore } from './local-store.js';

export function createBrowserHost(project: string): ClientHost {
  const localStore = new LocalStore(`aos:${project}:`);
  return {
    exchange: sendRequest,
    kept: localStore,
    queued: new LocalStore(`aos-errors:${project}:`),
    platform: 'any',
    identifyMachine: () => Promise.resolve({ id: getStoredId(localStore), isStable: true }),
    computeSha256: (text) => computeSha256Hex(new TextEncoder().encode(text)),
    verifyAnswer,
    verifyLicenseFile,
    resolveFollowingKeys: resolveFollowingKeys,
    readText: () => Promise.resolve(null),
    show: formatValue,
    watchUncaught: onUncaught,
    runAtExit: onPageHide,
    createProcessMetrics: () => null,
  };
}

/**
 * Returns a random id stored for the origin, in the format of a machine id, because pages cannot
 * identify the machine.
 */
function getStoredId(store: TextStore): string {
  const known = store.read('machine-id');
  if (known !== null && /^[0-9a-f]{64}$/.test(known)) return known;
  const fresh = createRandomId() + createRandomId();
  store.write('machine-id', fresh);
  return fresh;
}

const MAX_SHOWN_LENGTH = 1_000;

function formatValue(value: unknown): string {
  try {
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
    return text.slice(0, MAX_SHOWN_LENGTH);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

interface Page {
  addEventListener(
    event: string,
    listener: (event: { error?: unknown; reason?: unknown; message?: unknown }) => void,
  ): void;
  removeEventListener: Page['addEventListener'];
}

function onPageHide(work: () => Promise<unknown>): () => void {
  const page = globalThis as unknown as Page;
  const listener = (): void => void work();
  page.addEventListener('pagehide', listener);
  return () => page.removeEventListener('pagehide', listener);
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
