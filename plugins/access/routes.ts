import joi from 'joi';
import {
  created,
  deleted,
  withSchemaName,
  whole,
  type Clock,
  type HttpRequest,
  type RouteSpec,
} from '../../kernel/contract/index.js';
import { denied, notFound } from '../../kernel/errors.js';
import type { TokenProjects } from '../../ports/domain/tokens.js';
import { MAX_TOKEN_LIFETIME_SECONDS, provisionToken, type ProvisionInput } from './tokens/provision.js';
import type { AuditService } from './audit/audit.js';
import type { TokenService } from './tokens/tokens.js';

const timestamp = joi.string().isoDate();

const tokenSchema = withSchemaName(
  'Token',
  whole({
    id: joi.string(),
    name: joi.string(),
    kind: joi.string().valid('master', 'sub', 'watchdog', 'setup', 'intake'),
    prefix: joi.string(),
    scopes: joi.array().items(joi.string()),
    project: joi.string().allow(null),
    source: joi.string().allow(null),
    agent: joi.string().allow(null).description('The only agent name it can claim under'),
    parent_id: joi.string().allow(null),
    created_by: joi.string(),
    created_at: timestamp,
    expires_at: timestamp.allow(null),
    last_used_at: timestamp.allow(null),
    revoked_at: timestamp.allow(null),
  }),
);

const provisionBodySchema = withSchemaName(
  'TokenRequest',
  joi
    .object({
      name: joi.string().trim().min(1).max(100).required(),
      scopes: joi.array().items(joi.string().max(100)).max(100),
      project: joi.string().max(64).allow(null),
      expires_in_seconds: joi.number().integer().strict().min(1).max(MAX_TOKEN_LIFETIME_SECONDS),
      agent: joi.string().trim().min(1).max(100).allow(null).description('It can claim only under this name'),
    })
    .example({ name: 'fixer-1', scopes: ['bugtracker:manage'], expires_in_seconds: 3600 }),
);

export function buildAccessRoutes(parts: {
  tokens: TokenService;
  audit: AuditService;
  clock: Clock;
  projects: TokenProjects;
}): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/tokens/v1/provision',
      operationId: 'provisionToken',
      errors: ['conflict'],
      summary: 'Create a sub-token with at most the rights of the master token',
      description:
        'The token is shown once. Without `scopes` it gets all scopes of the master token; without `expires_in_seconds` it expires after 24 hours.',
      access: { anyToken: true },
      input: { body: provisionBodySchema },
      status: 201,
      output: withSchemaName(
        'TokenMade',
        whole({
          token: joi.string(),
          id: joi.string(),
          scopes: joi.array().items(joi.string()),
          expires_at: timestamp,
        }),
      ),
      handle: async (request) => {
        const made = await provisionToken(parts, request.principal, request.body as ProvisionInput);
        const details = { address: request.address, request_id: request.id, scopes: made.scopes.join(' ') };
        await parts.audit.record(request.principal, 'token.provisioned', made.id, details);
        return created(made).header('cache-control', 'no-store');
      },
    },
    {
      method: 'GET',
      path: '/api/tokens/v1/self',
      operationId: 'getOwnToken',
      errors: ['not_found'],
      summary: 'Get the token of the request',
      access: { anyToken: true },
      output: tokenSchema,
      handle: async (request) => {
        const own = await parts.tokens.find(readTokenId(request));
        if (own === null) throw notFound('such token');
        return own;
      },
    },
    {
      method: 'DELETE',
      path: '/api/tokens/v1/self',
      operationId: 'revokeOwnToken',
      summary: 'Revoke the sub-token of the request',
      access: { anyToken: true },
      output: deleted,
      handle: async (request) => {
        const { principal } = request;
        if (principal.kind !== 'token' || principal.token_kind !== 'sub')
          throw denied('Only a sub-token can revoke itself.');
        await parts.tokens.revoke(principal.id);
        return { deleted: true };
      },
    },
  ];
}

function readTokenId(request: HttpRequest): string {
  if (request.principal.kind !== 'token') throw denied('Requires a token.');
  return request.principal.id;
}
