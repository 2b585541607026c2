import { Reply, type HttpRequest, type Principal, type RouteSpec } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { compareVersions } from '../../../lib/versions.js';
import type { UploadedBody } from '../../../ports/http/index.js';
import { checkCanChange } from '../lists.js';
import type { Platform } from '../../../lib/formats/platform.js';
import { checkChannel, checkPlatform, checkVersion, SLUG_PATTERN } from '../release-place.js';
import type { SelectedRelease } from '../publishing/release-change-service.js';
import { MAX_NOTES_BYTES } from '../publishing/package-receiver.js';
import type { PublishedRelease, PublishRequest } from '../publishing/publisher.js';
import type { ReleaseServices } from '../services.js';
import { toReleaseView } from '../view.js';
import { UPDATE_SERVICE_PATH, parseProduct } from './update-check-routes.js';
import {
  requestBodies,
  promoteAnswer,
  publishAnswer,
  publishQuery,
  rollbackAnswer,
  rolloutAnswer,
  withdrawAnswer,
} from './schemas.js';

const PUBLISH_ACCESS = { scope: 'updateservice:publish' } as const;

interface ReleaseSelector {
  product: string;
  version: string;
  channel: string;
  platform?: string | null;
}

const getDisplayName = (principal: Principal): string =>
  principal.kind === 'token' ? principal.name : principal.kind === 'session' ? principal.username : principal.kind;

function toPublishRequest(call: HttpRequest): PublishRequest {
  const { query, principal } = call;
  const input = query as unknown as ReleaseSelector & {
    build?: string;
    mandatory: boolean;
    rollout_percent?: number;
    min_version?: string;
  };
  const version = checkVersion(input.version);
  const min_version = input.min_version === undefined ? null : checkVersion(input.min_version, 'min_version');
  if (min_version !== null && compareVersions(min_version, version) >= 0) {
    throw invalid({ min_version: 'must be below the version, otherwise it is not offered to any machine' });
  }
  const product = parseProduct(input.product);
  checkCanChange(principal, product);
  return {
    product,
    channel: checkChannel(input.channel),
    version,
    platform: checkPlatform(input.platform ?? 'any'),
    build: input.build ?? null,
    mandatory: input.mandatory,
    rollout_percent: input.rollout_percent,
    min_version,
    by: getDisplayName(principal),
    reauthorize: () => call.reauthorize(),
  };
}

function toSelectedRelease(principal: Principal, selector: ReleaseSelector, field = 'channel'): SelectedRelease {
  if (!SLUG_PATTERN.test(selector.product)) throw invalid({ product: 'must be the slug of a project' });
  checkCanChange(principal, selector.product);
  const platform: Platform | null =
    selector.platform === undefined || selector.platform === null ? null : checkPlatform(selector.platform);
  const channel = checkChannel(selector.channel, invalid, field);
  return { product: selector.product, channel, version: checkVersion(selector.version), platform };
}

const hasOutcome = (published: readonly PublishedRelease[], outcome: PublishedRelease['outcome']): boolean =>
  published.every((one) => one.outcome === outcome);

export function publishingRoutes({ uploads, changes, rollbacks, deps }: ReleaseServices): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: `${UPDATE_SERVICE_PATH}/publish`,
      operationId: 'publishRelease',
      summary: 'Publish a release',
      description:
        'The body is the package: a gzipped tar, which is hashed while it is streamed to disk. 201: new; 200 with `unchanged`: the same package was already published, and a given `rollout_percent` and notes are updated; 200 with `replaced`: a different package was replaced.',
      access: PUBLISH_ACCESS,
      input: {
        query: publishQuery,
        headers: {
          'X-Package-SHA256': 'Expected hash of the package, hex',
          'X-Release-Notes': 'Release notes, base64 of UTF-8',
          'X-Package-Meta': '`{preserve_patterns, entry, runtime}`, base64 of JSON',
        },
        stream: {
          mediaTypes: ['application/gzip'],
          multipart: { file: 'package', fields: ['notes', 'meta'], fieldBytes: MAX_NOTES_BYTES * 4 },
          bytes: deps.packageBytes,
        },
      },
      output: publishAnswer,
      status: [201, 200],
      errors: [
        'unknown_project',
        'publish_in_progress',
        'checksum_mismatch',
        'package_rejected',
        'payload_too_large',
        'insufficient_storage',
        'conflict',
      ],
      limits: { space: true },
      handle: async (call) => {
        const { headers, principal } = call;
        const announced = {
          sha256: headers['x-package-sha256'],
          notes: headers['x-release-notes'],
          meta: headers['x-package-meta'],
        };
        const body = call.body as UploadedBody;
        const { release, outcome, closed, warnings } = await uploads.publish(principal, {
          request: toPublishRequest(call),
          body,
          announced,
        });
        return new Reply(outcome === 'created' ? 201 : 200, {
          release: toReleaseView(release),
          manifest_files: release.file_count,
          signed: release.manifest_signature !== null,
          unchanged: outcome === 'unchanged',
          replaced: outcome === 'replaced',
          closed_items: closed,
          closed_refs: await listItemRefs(deps, closed),
          warnings,
        });
      },
    },
    {
      method: 'POST',
      path: `${UPDATE_SERVICE_PATH}/withdraw`,
      operationId: 'withdrawRelease',
      summary: 'Withdraw a release',
      description:
        'Its file is removed from the store, it is no longer offered, and `latest.json` lists it with `withdrawn_at`. Publishing it again reverts that.',
      access: PUBLISH_ACCESS,
      input: { body: requestBodies.withdraw },
      output: withdrawAnswer,
      errors: ['not_found', 'reason_required', 'conflict'],
      handle: async ({ body, principal }) => {
        const input = body as ReleaseSelector & { reason?: string | null };
        const releases = await changes.withdraw(principal, toSelectedRelease(principal, input), input.reason ?? '');
        return { release: releases.map(toReleaseView)[0], releases: releases.map(toReleaseView) };
      },
    },
    {
      method: 'POST',
      path: `${UPDATE_SERVICE_PATH}/promote`,
      operationId: 'promoteRelease',
      summary: 'Promote a package from one channel to another',
      description: 'It gets a new manifest and signature. A withdrawn release is 409 `conflict`.',
      access: PUBLISH_ACCESS,
      input: { body: requestBodies.promote },
      output: promoteAnswer,
      status: [201, 200],
      errors: ['not_found', 'conflict', 'publish_in_progress', 'unknown_project'],
      handle: async (call) => {
        const { body, principal } = call;
        const input = body as Omit<ReleaseSelector, 'channel'> & { from: string; to: string; rollout_percent?: number };
        const chosen = toSelectedRelease(principal, { ...input, channel: input.from }, 'from');
        const to = checkChannel(input.to, invalid, 'to');
        const published = await changes.promote(
          principal,
          chosen,
          to,
          input.rollout_percent,
          getDisplayName(principal),
          () => call.reauthorize(),
        );
        const releases = published.map(({ release }) => toReleaseView(release));
        const closed = [...new Set(published.flatMap((one) => one.closed))];
        return new Reply(published.some(({ outcome }) => outcome === 'created') ? 201 : 200, {
          release: releases[0],
          releases,
          unchanged: hasOutcome(published, 'unchanged'),
          replaced: published.some(({ outcome }) => outcome === 'replaced'),
          closed_items: closed,
          closed_refs: await listItemRefs(deps, closed),
        });
      },
    },
    {
      method: 'POST',
      path: `${UPDATE_SERVICE_PATH}/rollback`,
      operationId: 'rollBackChannel',
      summary: 'Roll a channel back to an earlier release',
      description:
        'The release becomes the newest offered one; later ones are withdrawn with `rolled_back: true`. The signed freshness statement contains the rollback, so that update agents accept the lower version. Repeating it changes nothing.',
      access: PUBLISH_ACCESS,
      input: { body: requestBodies.rollback },
      output: rollbackAnswer,
      errors: ['not_found', 'reason_required', 'conflict'],
      handle: async ({ body, principal }) => {
        const input = body as Omit<ReleaseSelector, 'version'> & { to: string; reason?: string | null };
        const version = checkVersion(input.to, 'to');
        const chosen = toSelectedRelease(principal, { ...input, version });
        const { releases, withdrawn, rollback, unchanged } = await rollbacks.rollBack(
          principal,
          chosen,
          input.reason ?? '',
        );
        const shown = releases.map(toReleaseView);
        return { release: shown[0], releases: shown, withdrawn: withdrawn.map(toReleaseView), rollback, unchanged };
      },
    },
    {
      method: 'POST',
      path: `${UPDATE_SERVICE_PATH}/rollout`,
      operationId: 'setRollout',
      summary: 'Set the percentage of machines that are offered a release',
      description: 'Raising it only adds machines. Setting it resumes a rollout that halted.',
      access: PUBLISH_ACCESS,
      input: { body: requestBodies.rollout },
      output: rolloutAnswer,
      errors: ['not_found', 'conflict'],
      handle: async ({ body, principal }) => {
        const input = body as ReleaseSelector & { rollout_percent: number };
        const chosen = toSelectedRelease(principal, input);
        const one = { ...chosen, platform: chosen.platform ?? 'any' };
        return { release: toReleaseView(await changes.setRollout(principal, one, input.rollout_percent)) };
      },
    },
  ];
}

const listItemRefs = async (
  { bugs }: Pick<ReleaseServices['deps'], 'bugs'>,
  ids: readonly string[],
): Promise<string[]> => (await bugs()?.listRefs(ids)) ?? [];
