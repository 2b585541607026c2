import joi from 'joi';
import { text, timeParameter, type RouteSpec, withJsonSchema } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { DAY_MS } from '../../../lib/time.js';
import { checkChannel, checkPlatform, checkVersion, MAX_QUERY_VERSION_LENGTH, SLUG_PATTERN } from '../release-place.js';
import { invalidQuery } from '../../../kernel/errors.js';
import type { ReleaseServices } from '../services.js';
import { checkCanRead, type ReleaseQuery } from '../lists.js';
import {
  channel,
  checkAnswer,
  freshnessAnswer,
  latestAnswer,
  latestDocumentShape,
  platformText,
  product,
  pubkeyAnswer,
  releasePage,
  slugText,
  versionText,
} from './schemas.js';

export const UPDATE_SERVICE_PATH = '/api/updateservice/v1';

interface ProductQuery {
  product: string;
  channel: string;
  platform: string;
}

interface CheckQuery extends ProductQuery {
  version: string;
  instance_id?: string;
}

/** @throws ServiceError invalid_request; validation_failed for the platform */
function parseQueryPlace(query: ProductQuery) {
  return {
    product: parseProduct(query.product),
    channel: checkChannel(query.channel),
    platform: checkPlatform(query.platform),
  };
}

export function parseProduct(slug: string): string {
  if (!SLUG_PATTERN.test(slug)) throw invalidQuery({ product: 'must be a project’s slug' });
  return slug;
}

export function updateCheckRoutes({
  asking: updateChecks,
  index,
  channels,
  lists,
  deps,
}: ReleaseServices): RouteSpec[] {
  const { signer, clock } = deps;
  return [
    {
      method: 'GET',
      path: `${UPDATE_SERVICE_PATH}/check`,
      operationId: 'checkForUpdate',
      summary: 'Is there a newer release?',
      description:
        'Answered from memory. Per version the exact platform’s package counts, else that for `any`. Unknown parameters are ignored. The ETag changes with the answer: send it as `If-None-Match` and be told 304.',
      access: 'public',
      limits: { bucket: 'check' },
      input: {
        query: joi.object({
          product,
          version: versionText.required().description('The version that is installed'),
          channel,
          platform: platformText.default('any').description('Runtime identifier; absent: only `any`'),
          instance_id: joi
            .string()
            .max(200)
            .description('The same for a machine at every question: staged rollouts go by it'),
        }),
      },
      output: checkAnswer,
      errors: ['not_found', 'validation_failed'],
      handle: ({ query }) => {
        const checkQuery = query as unknown as CheckQuery;
        return updateChecks.check({
          product: parseProduct(checkQuery.product),
          channel: checkChannel(checkQuery.channel),
          platform: checkPlatform(checkQuery.platform),
          version: checkVersion(checkQuery.version, 'version', MAX_QUERY_VERSION_LENGTH),
          instance: checkQuery.instance_id ?? null,
        });
      },
    },
    {
      method: 'GET',
      path: `${UPDATE_SERVICE_PATH}/latest`,
      operationId: 'getLatestRelease',
      summary: 'The newest release that everyone gets',
      description: 'Withdrawn and halted releases and rollouts below 100 are left out.',
      access: 'public',
      limits: { bucket: 'check' },
      input: { query: joi.object({ product, channel, platform: platformText.default('any') }) },
      output: latestAnswer,
      errors: ['not_found', 'validation_failed'],
      handle: ({ query }) => {
        const place = parseQueryPlace(query as unknown as ProductQuery);
        return updateChecks.getLatest(place.product, place.channel, place.platform);
      },
    },
    {
      method: 'GET',
      path: `${UPDATE_SERVICE_PATH}/latest.json`,
      operationId: 'getLatestDocument',
      summary: 'All releases of a channel, as in the store',
      description: 'For the packager: the store itself may ask for a license key.',
      access: { scope: 'updateservice:publish' },
      input: { query: joi.object({ product, channel }) },
      output: latestDocumentShape,
      errors: ['not_found'],
      handle: async ({ query, principal }) => {
        const productQuery = query as unknown as ProductQuery;
        const slug = parseProduct(productQuery.product);
        checkCanRead(principal, slug);
        if ((await deps.projects.get(slug)) === null) throw notFound(`product ${slug}`);
        await index.catchUp(slug);
        return channels.buildDocument(slug, checkChannel(productQuery.channel));
      },
    },
    {
      method: 'GET',
      path: `${UPDATE_SERVICE_PATH}/releases`,
      operationId: 'listReleases',
      summary: 'List the releases',
      description: 'Newest first. A token that is bound to a project sees that one alone.',
      access: { anyToken: true },
      strictQuery: true,
      input: {
        query: joi.object({
          product: slugText,
          channel: slugText,
          platform: platformText,
          updated_since: joi.string().max(64).description('Only what changed since then, oldest change first'),
          limit: joi.number().integer().min(1).max(200).default(50),
          cursor: joi.string().max(4096),
          include_total: joi.boolean().default(false),
        }),
      },
      output: releasePage,
      errors: ['validation_failed'],
      handle: async ({ query, principal }) => {
        const releaseQuery = query as unknown as ReleaseQuery;
        if (releaseQuery.platform !== undefined) checkPlatform(releaseQuery.platform);
        const since = timeParameter('updated_since', releaseQuery.updated_since);
        return lists.listPage(principal, { ...releaseQuery, ...(since === undefined ? {} : { updated_since: since }) });
      },
    },
    {
      method: 'GET',
      path: `${UPDATE_SERVICE_PATH}/pubkey`,
      operationId: 'getReleaseKey',
      summary: 'The public key that verifies releases',
      description: '`predecessors` lead from a key that was pinned earlier to this one.',
      access: 'public',
      input: {
        query: joi.object({
          format: joi.string().valid('json', 'pem').default('json').description('`pem`: the key alone'),
        }),
      },
      output: joi.alternatives(
        pubkeyAnswer,
        withJsonSchema({ contentMediaType: 'application/x-pem-file' }, joi.string()),
      ),
      errors: ['not_found'],
      handle: async ({ query }) => {
        const key = await signer.getKey();
        if (key === null) throw notFound('release key: releases are unsigned');
        const { key_id, public_key, bits } = key;
        if (query['format'] === 'pem') return text(public_key, 'application/x-pem-file');
        const predecessors = (await signer.listPredecessors()).map((earlier) => ({
          key_id: earlier.key_id,
          public_key: earlier.public_key,
          signature: earlier.signature,
        }));
        return { algorithm: 'RSA-SHA256', key_id, public_key, bits, predecessors };
      },
    },
    {
      method: 'GET',
      path: `${UPDATE_SERVICE_PATH}/freshness`,
      operationId: 'getFreshness',
      summary: 'A signed statement of what is newest',
      description:
        'Issued again at every change and every 24 hours, and good for seven days, so that nobody between server and machine can hold the machine on an old release. 404 where releases are unsigned, and before the first release.',
      access: 'public',
      limits: { bucket: 'check' },
      input: { query: joi.object({ product, channel }) },
      output: freshnessAnswer,
      errors: ['not_found'],
      handle: async ({ query }) => {
        const productQuery = query as unknown as ProductQuery;
        const slug = parseProduct(productQuery.product);
        await index.ensureCurrent();
        const stated = index.getStatement(slug, checkChannel(productQuery.channel));
        if (stated === null || Date.parse(stated.expires_at) < clock.now() - DAY_MS) {
          throw notFound(`freshness statement of ${slug} in ${productQuery.channel}`);
        }
        const { statement, signature, key_id } = stated;
        return { statement, signature, key_id };
      },
    },
  ];
}
