/** Checks for updates (contract 40, asking; contract 90, SDK: `checkForUpdate`). */
import type { Platform } from '../../lib/formats/platform.js';
import type { CachedUpdate } from './cache.js';
import type { ClientContext } from './context.js';
import { evaluateResponse, toFailureFields, type ServiceProblem } from './verdict.js';

/** A release as sent by the server (contract 40, asking). */
export interface Release {
  version: string;
  channel: string;
  platform: Platform;
  published_at: string;
  release_notes: string | null;
  mandatory: boolean;
  /** Relative to the server's URL. */
  package_url: string;
  package_size: number;
  package_sha256: string;
  /** The exact signed bytes; null for a long manifest, which is at `manifest_url`. */
  manifest_json: string | null;
  /** URL of a long manifest, relative to the server's, read with the package's credentials. */
  manifest_url?: string | null;
  /** Of the manifest's bytes. */
  manifest_sha256?: string;
  manifest_signature: string | null;
  key_id: string | null;
}

export interface UpdateCheck {
  updateAvailable: boolean;
  latestVersion: string | null;
  release: Release | null;
  /** A license problem rather than a network failure. */
  unauthorized: boolean;
  /** True when there was no definite answer; retry later. */
  isTransient: boolean;
  fromCache: boolean;
  error?: ServiceProblem;
}

const UNKNOWN_UPDATE = { updateAvailable: false, latestVersion: null, release: null, fromCache: false };

export async function checkForUpdate(
  context: ClientContext,
  currentVersion: string,
  channel = 'stable',
  platform: Platform = context.host.platform,
  signal?: AbortSignal,
): Promise<UpdateCheck> {
  const { project, machineId, cache } = context;
  const query = new URLSearchParams({
    product: project,
    version: currentVersion,
    channel,
    platform,
    instance_id: await machineId(),
  });
  const verdict = evaluateResponse(
    await context.ask('GET', `/api/updateservice/v1/check?${query.toString()}`, { signal }),
  );
  const updateQuery = { channel, platform, current_version: currentVersion };
  if (verdict.kind === 'answer' && typeof verdict.body['update_available'] === 'boolean') {
    const update = parseAnswer(verdict.body);
    await cache.write(() => ({ update: { ...updateQuery, ...update } }));
    return { ...toUpdateResult(update), unauthorized: false, isTransient: false, fromCache: false };
  }
  if (verdict.kind === 'refused') return { ...UNKNOWN_UPDATE, ...toFailureFields(verdict) };
  const error =
    verdict.kind === 'answer' ? { code: 'network', message: 'a response of another service' } : verdict.problem;
  const cached = cache.read().update;
  const fallback =
    cached !== null && isAnswerTo(cached, updateQuery)
      ? { ...toUpdateResult(cached), fromCache: true }
      : UNKNOWN_UPDATE;
  return { ...fallback, unauthorized: false, isTransient: true, error };
}

const isAnswerTo = (
  cached: CachedUpdate,
  updateQuery: Pick<CachedUpdate, 'channel' | 'platform' | 'current_version'>,
): boolean =>
  cached.channel === updateQuery.channel &&
  cached.platform === updateQuery.platform &&
  cached.current_version === updateQuery.current_version;

type UpdateAnswer = Pick<CachedUpdate, 'latest_version' | 'release'>;

function parseAnswer({ latest_version, release, update_available }: Record<string, unknown>): UpdateAnswer {
  return {
    latest_version: typeof latest_version === 'string' ? latest_version : null,
    release:
      update_available === true && typeof release === 'object' ? (release as Record<string, unknown> | null) : null,
  };
}

const toUpdateResult = ({
  latest_version,
  release,
}: UpdateAnswer): Pick<UpdateCheck, 'updateAvailable' | 'latestVersion' | 'release'> => ({
  updateAvailable: release !== null,
  latestVersion: latest_version,
  release: release as Release | null,
});
