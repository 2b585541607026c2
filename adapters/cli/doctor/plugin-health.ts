/**
 * Plugin health for `aos doctor`: from the running service if reachable, else from plugins set up
 * here on the same store, without starting them.
 */
import { join } from 'node:path';
import type { ResolvedConfig } from '../../../config/load.js';
import { readOwnedFile } from '../../../lib/files/trusted-file.js';
import type { PluginState, SystemInfo } from '../../../ports/domain/system.js';

const REQUEST_TIMEOUT_MS = 5_000;
const MAX_TEXT_LENGTH = 400;

export interface PluginHealth {
  id: string;
  state: string;
  reason: string | null;
  ok: boolean;
  details: Readonly<Record<string, unknown>>;
}

export async function fetchServiceHealth({ data_dir, security }: ResolvedConfig): Promise<PluginHealth[] | null> {
  if (security.shared_key === '') return null;
  try {
    const { url } = JSON.parse(await readOwnedFile(join(data_dir, 'server.json'))) as { url: string };
    const answer = await fetch(new URL('/api/health', url), {
      headers: { authorization: `Bearer ${security.shared_key}` },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!answer.ok) return null;
    const { checks } = (await answer.json()) as { checks: { plugins: Record<string, Omit<PluginHealth, 'id'>> } };
    return Object.entries(checks.plugins).map(([id, { state, reason, ok, ...details }]) => ({
      id,
      state,
      reason,
      ok,
      details,
    }));
  } catch {
    // No file, no such process, or another service at this address.
    return null;
  }
}

/** @param shouldCheck false: only states are reported, because no store exists yet */
export async function readLocalHealth(system: SystemInfo, shouldCheck: boolean): Promise<PluginHealth[]> {
  const health = shouldCheck ? await system.checkHealth() : {};
  return system.listPlugins().map(({ id, state, reason }) => {
    const { ok, ...details } = (state === 'ready' ? health[id] : undefined) ?? { ok: state !== 'failed' };
    return { id, state, reason, ok, details };
  });
}

export function mergeRunningStates(
  running: readonly PluginState[] | null,
  here: readonly PluginHealth[],
): readonly PluginHealth[] {
  if (running === null) return here;
  return running.map(({ id, state, reason }) => {
    const same = here.find((one) => one.id === id && one.state === state);
    return { id, state, reason, ok: same?.ok ?? state !== 'failed', details: same?.details ?? {} };
  });
}

export function formatHealth({ state, reason, ok, details }: PluginHealth): string {
  const own = Object.entries(details).map(([name, value]) => `${name} ${toText(value)}`);
  const text = [reason === null ? state : `${state}: ${reason}`, ...(ok ? [] : ['not ok']), ...own].join(', ');
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'));
