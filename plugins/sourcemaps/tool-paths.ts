import joi from 'joi';
import type { HttpRequest, RouteSpec } from '../../kernel/contract.js';
import { ServiceError } from '../../kernel/errors.js';
import type { MapUploader } from './uploads.js';

export const BASE = '/api/0';
const SLUG = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export const slug = joi.string().min(1).max(200).required();
export const organization = slug.description('Any: this service has no organizations');
export const version = slug.description('The release, as the tool names it');

export const shared = {
  tag: '0',
  access: { scope: 'bugtracker:manage' },
  plain: true,
  errors: ['unknown_project', 'validation_failed'],
} satisfies Partial<RouteSpec>;

export const callerOf = (request: HttpRequest): MapUploader => {
  const { principal } = request;
  if (principal.kind === 'token') return { principal, reauthorize: () => request.reauthorize() };
  throw new ServiceError('unauthorized', 'This needs a token.');
};

/**
 * Returns possible project names when the tool states none: the product of its release
 * (`shop@1.4.2`), and its organization, which has no other meaning here.
 */
export const getProjectHints = ({ params: { version: release = '', org = '' }, body }: HttpRequest): string[] => {
  const named = release !== '' ? release : ((body ?? {}) as { version?: unknown }).version;
  const product = typeof named === 'string' ? named.slice(0, Math.max(0, named.lastIndexOf('@'))) : '';
  return [product, org].filter((hint) => SLUG.test(hint));
};

/** With and without trailing slash: tools send it, users omit it. */
export const at = (path: string): { path: string; aliases: string[] } => ({
  path: `${BASE}${path}/`,
  aliases: [`${BASE}${path}`],
});
