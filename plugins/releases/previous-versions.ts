import { normalizeVersion, compareVersions } from '../../lib/versions.js';
import type { ReleaseDoc } from './model.js';

/** Covers any platform, highest first (contract 21, release health). */
export function listPreviousVersions(
  { channel, version }: Pick<ReleaseDoc, 'channel' | 'version'>,
  releases: readonly Pick<ReleaseDoc, 'channel' | 'version' | 'withdrawn_at'>[],
): string[] {
  const lower = new Map<string, string>();
  for (const one of releases) {
    if (one.channel !== channel || one.withdrawn_at !== null || compareVersions(one.version, version) >= 0) continue;
    const key = normalizeVersion(one.version);
    if (!lower.has(key)) lower.set(key, one.version);
  }
  return [...lower.values()].toSorted((a, b) => compareVersions(b, a));
}
