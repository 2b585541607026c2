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
  if (!SLUG_PATTERN.test(slug)) throw invalidQuery({ product: 'must be the slug of a project' });
  return slug;
}

export function updateCheckRoutes({ updateChecks, index, channels, lists, deps }: ReleaseServices): RouteSpec[] {
  const { signer, clock } = deps;
  return [
    {
      method: 'GET',
      path: `${UPDATE_SERVICE_PATH}/check`,
      operationId: 'checkForUpdate',
      summary: 'Check for a newer release',
      description:
        'Served from memory. For each version the package of the exact platform is used, else that for `any`. Unknown parameters are ignored. The ETag changes with the response: send it as `If-None-Match` to get 304.',
      access: 'public',
      limits: { bucket: 'check' },
      input: {
        query: joi.object({
          product,
          version: versionText.required().description('The installed version'),
          channel,
          platform: platformText.default('any').description('Runtime identifier; default: only `any`'),
          instance_id: joi
            .string()
            .max(200)
            .description('Must be the same in all requests of a machine: staged rollouts depend on it'),
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
      summary: 'Get the newest release that is offered to all machines',
      description: 'Withdrawn and halted releases and rollouts below 100 are omitted.',
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
      summary: 'List all releases of a channel, as in the store',
      description: 'For the packager, because the store itself may require a license key.',
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
      description: 'Newest first. A token limited to a project sees only that project.',
      access: { anyToken: true },
      strictQuery: true,
      input: {
        query: joi.object({
          product: slugText,
          channel: slugText,
          platform: platformText,
          updated_since: joi.string().max(64).description('Only releases changed since then, oldest change first'),
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
      summary: 'Get the public key that verifies releases',
      description: '`predecessors` connect a previously pinned key to this one.',
      access: 'public',
      input: {
        query: joi.object({
          format: joi.string().valid('json', 'pem').default('json').description('`pem`: only the key'),
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
      summary: 'Get a signed statement of the newest releases',
      description:
        'Reissued on every change and every 24 hours, and valid for seven days, so that an attacker between server and machine cannot hold the machine on an old release. 404 if releases are unsigned, and before the first release.',
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
