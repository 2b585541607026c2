/** Releases as pages show them: status, adoption, place (contract 80). */
import { isSameVersion, isVersion } from '../../../lib/versions.js';
import type { VersionAdoption } from '../../../ports/domain/watchdog.js';
import type { ReleaseDoc } from '../model.js';
import { toReleaseView, type ReleaseView } from '../view.js';

export const RELEASES_TITLE = 'Releases';
export const RELEASES_CRUMB = { label: RELEASES_TITLE, href: '/releases' };
/** Members read; administrators change (contract 10, roles). */
export const RELEASE_MEMBER_AUTH = { session: 'member' } as const;
export const RELEASE_ADMIN_AUTH = { session: 'admin' } as const;

export interface ShownRelease extends ReleaseView {
  href: string;
  state: string;
  tone: string;
}

export function toShownRelease(doc: ReleaseDoc): ShownRelease {
  const [state, tone] = getStateLabel(doc);
  return { ...toReleaseView(doc), href: `/releases/${doc.id}`, state, tone };
}

function getStateLabel(doc: ReleaseDoc): [string, string] {
  if (doc.rolled_back !== undefined) return ['Rolled back', 'warning'];
  if (doc.withdrawn_at !== null) return ['Withdrawn', 'neutral'];
  if (doc.halted_at !== null) return ['Halted', 'warning'];
  if (doc.rollout_percent < 100) return [`${doc.rollout_percent} %`, 'info'];
  return ['100 %', 'success'];
}

export interface AdoptionShare {
  label: string;
  value: number;
  tone: string;
}

const MAX_SHARES = 6;

export function toAdoptionShares(adoption: readonly VersionAdoption[], version: string | null): AdoptionShare[] {
  const isThis = (one: VersionAdoption): boolean =>
    version !== null && one.version !== null && isVersion(one.version) && isSameVersion(one.version, version);
  const sorted = adoption.toSorted((a, b) => Number(isThis(b)) - Number(isThis(a)));
  const parts = sorted.slice(0, MAX_SHARES).map((one) => ({
    label: one.version ?? 'Unknown version',
    value: one.monitors,
    tone: isThis(one) ? 'success' : one.version === null ? 'neutral' : 'info',
  }));
  const rest = sorted.slice(MAX_SHARES).reduce((sum, { monitors }) => sum + monitors, 0);
  return rest === 0 ? parts : [...parts, { label: 'Others', value: rest, tone: 'neutral' }];
}
