import joi from 'joi';
import type { HttpRequest, RouteSpec } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import type { MapUploader } from './uploads.js';

export const BASE_PATH = '/api/0';
const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export const slugSchema = joi.string().min(1).max(200).required();
export const organizationSchema = slugSchema.description('Any: this service has no organizations');
export const versionSchema = slugSchema.description('The release name of the tool');

export const sharedRouteOptions = {
  tag: '0',
  access: { scope: 'bugtracker:manage' },
  plain: true,
  errors: ['unknown_project', 'validation_failed'],
} satisfies Partial<RouteSpec>;

export const toMapUploader = (request: HttpRequest): MapUploader => {
  const { principal } = request;
  if (principal.kind === 'token') return { principal, reauthorize: () => request.reauthorize() };
  throw new ServiceError('unauthorized', 'Requires a token.');
};

/**
 * Returns possible project names when the tool states none: the product of its release
 * (`shop@1.4.2`), and its organization, which has no other meaning here.
 */
export const getProjectHints = ({ params: { version: release = '', org = '' }, body }: HttpRequest): string[] => {
  const named = release !== '' ? release : ((body ?? {}) as { version?: unknown }).version;
  const product = typeof named === 'string' ? named.slice(0, Math.max(0, named.lastIndexOf('@'))) : '';
  return [product, org].filter((hint) => SLUG_PATTERN.test(hint));
};

/** With and without trailing slash: tools send it, users omit it. */
export const withTrailingSlash = (path: string): { path: string; aliases: string[] } => ({
  path: `${BASE_PATH}${path}/`,
  aliases: [`${BASE_PATH}${path}`],
});
