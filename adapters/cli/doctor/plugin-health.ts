/**
 * What `aos doctor` says of each plugin: what its health answers in the running service, where that can be asked; else
 * what it answers here, over the same store, without having been started.
 */
import { join } from 'node:path';
import type { Core } from '../../../config/load.js';
import { readOwn } from '../../../lib/files/trusted-file.js';
import type { PluginState, SystemInfo } from '../../../ports/domain/system.js';

const ASK_MS = 5_000;
const LONGEST = 400;

export interface PluginHealth {
  id: string;
  state: string;
  reason: string | null;
  /** As `checks.plugins` of `/api/health` has it. */
  ok: boolean;
  details: Readonly<Record<string, unknown>>;
}

/** The words of the running service; null when none runs, or it cannot be asked. */
export async function healthOfService({ data_dir, security }: Core): Promise<PluginHealth[] | null> {
  if (security.shared_key === '') return null;
  try {
    const { url } = JSON.parse(await readOwn(join(data_dir, 'server.json'))) as { url: string };
    const answer = await fetch(new URL('/api/health', url), {
      headers: { authorization: `Bearer ${security.shared_key}` },
      signal: AbortSignal.timeout(ASK_MS),
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
    // No file, no such process, or another service at this address: then there is nobody to ask.
    return null;
  }
}

/** What the plugins of this process say. @param asked false: only their state is known (there is no store yet) */
export async function healthHere(system: SystemInfo, asked: boolean): Promise<PluginHealth[]> {
  const said = asked ? await system.health() : {};
  return system.plugins().map(({ id, state, reason }) => {
    const { ok, ...details } = (state === 'ready' ? said[id] : undefined) ?? { ok: state !== 'failed' };
    return { id, state, reason, ok, details };
  });
}

/** The states that the running service wrote down, with what the same plugins say here. */
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

/** One line: the state, the reason, and what the plugin itself says. */
export function healthText({ state, reason, ok, details }: PluginHealth): string {
  const own = Object.entries(details).map(([name, value]) => `${name} ${plain(value)}`);
  const text = [reason === null ? state : `${state}: ${reason}`, ...(ok ? [] : ['not ok']), ...own].join(', ');
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'));
