/** Projects: the stored document, its rules and its public view (contract 15). */
import joi from 'joi';
import { MANAGED_FIELD, withSchemaName, whole, type Doc } from '../../kernel/contract/index.js';
import type { Actor } from '../../ports/domain/audit.js';
import type { PathRoot, ProjectInfo } from '../../ports/domain/projects.js';

export const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const SLUG_RULE_MESSAGE =
  'at most 64 lower-case letters, digits, dots, dashes and underscores, starting with a letter or digit';

export interface Project extends Doc {
  name: string;
  description: string | null;
  repo_url: string | null;
  path_roots?: PathRoot[];
  tag_format?: string | null;
  number: number;
  setup_scopes: string[];
  cache_ttl_hours: number;
  require_signed: boolean;
  archived: boolean;
  created_at: string;
  updated_at: string;
  /** Created by an apply. */
  managed?: true;
  /** Projects with this marker are hidden. */
  leaving_by?: string;
}

export type ProjectView = Omit<Project, 'id'> & { slug: string };

export const toProjectView = ({ id, ...rest }: Project): ProjectView => ({ slug: id, ...rest });

export function toProjectInfo(project: Project): ProjectInfo {
  const {
    id: slug,
    name,
    description,
    repo_url,
    path_roots = [],
    tag_format = null,
    number,
    setup_scopes,
    cache_ttl_hours,
    require_signed,
    archived,
  } = project;
  const code = { repo_url, path_roots, tag_format };
  return { slug, name, description, ...code, number, setup_scopes, cache_ttl_hours, require_signed, archived };
}

const singleLine = (max: number) =>
  joi
    .string()
    .trim()
    .max(max)
    .pattern(/\p{Cc}/u, { invert: true, name: 'free of control characters' });

/**
 * Repository location: a URL, `git@host:path`, `host.name:path`, or a path. Other schemes
 * (`javascript:`, `data:`) are rejected, because programs might follow them.
 */
const REPOSITORY_PATTERN = /^(?:(?:https?|ssh|git|git\+ssh|git\+https):\/\/|[^:.@/]*[.@/][^:]*:|[^:]*$)/i;

const sharedFields = {
  description: joi.string().max(5000).allow(null, '').description('Description of the product'),
  repo_url: singleLine(500)
    .pattern(REPOSITORY_PATTERN)
    .messages({ 'string.pattern.base': 'must be an address with https, http, ssh or git, host:path, or a path' })
    .allow(null, '')
    .description('Address of its repository'),
  path_roots: joi
    .array()
    .items(joi.object({ from: singleLine(300).min(1).required(), to: singleLine(300).allow('').required() }))
    .max(20)
    .description('Maps file paths to the repository: the first `from` that is a prefix of a path is replaced by `to`'),
  tag_format: singleLine(100)
    .pattern(/\{version\}/)
    .messages({ 'string.pattern.base': 'must contain {version}' })
    .allow(null, '')
    .description('Tag format of versions in the repository, for code without a commit: `v{version}`'),
  setup_scopes: joi
    .array()
    .items(joi.string().max(100))
    .max(50)
    .unique()
    .description('Scopes that setup can grant to an application'),
  cache_ttl_hours: joi
    .number()
    .integer()
    .min(0)
    .max(8760)
    .description('How long a client can use a license that it cannot verify'),
  require_signed: joi.boolean().description('Agents reject unsigned releases'),
};

export interface NewProject extends ProjectFields {
  slug: string;
  managed?: true;
}

export interface ProjectFields {
  name?: string;
  description?: string | null;
  repo_url?: string | null;
  path_roots?: PathRoot[];
  tag_format?: string | null;
  setup_scopes?: string[];
  cache_ttl_hours?: number;
  require_signed?: boolean;
}

export const createBodySchema = withSchemaName(
  'ProjectCreation',
  joi
    .object({
      slug: joi.string().pattern(SLUG_PATTERN, SLUG_RULE_MESSAGE).required(),
      name: singleLine(200).allow('').description('Default: the slug'),
      ...sharedFields,
    })
    .example({ slug: 'shop', name: 'The shop', repo_url: 'https://git.example.com/shop' }),
);

export const changeBodySchema = joi.object({ name: singleLine(200).min(1), ...sharedFields });
export const patchBodySchema = withSchemaName(
  'ProjectChange',
  changeBodySchema.keys({ slug: joi.string().description('Must be unchanged, because it cannot be changed') }),
);

const timestamp = joi.string().isoDate();

export const projectSchema = withSchemaName(
  'Project',
  whole({
    slug: joi.string(),
    name: joi.string(),
    description: joi.string().allow(null),
    repo_url: joi.string().allow(null),
    number: joi.number().integer().description('Of the Sentry DSN'),
    setup_scopes: joi.array().items(joi.string()),
    cache_ttl_hours: joi.number().integer(),
    require_signed: joi.boolean(),
    archived: joi.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  }).keys({
    path_roots: joi.array().items(whole({ from: joi.string(), to: joi.string().allow('') })),
    tag_format: joi.string().allow(null),
    managed: MANAGED_FIELD,
  }),
);

/**
 * Builds `https://<key>@host/<number>` with the scheme, port and path of the base URL (contract 21,
 * Sentry SDK intake).
 */
export function buildDsn(baseUrl: string, key: string, number: number): string {
  const url = new URL(baseUrl);
  return `${url.protocol}//${key}@${url.host}${url.pathname.replace(/\/+$/, '')}/${number}`;
}

export function getActorName(actor: Actor): string {
  if (typeof actor === 'string') return actor;
  if (actor.kind === 'session') return actor.username;
  return actor.kind === 'token' ? `token ${actor.name}` : actor.kind;
}
