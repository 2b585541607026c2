import { joi } from '../../../kernel/contract/index.js';
import type { Role } from '../../../ports/http/index.js';
import { ROLES } from '../model/account.js';

export interface OidcSettings {
  /** Null when it is off. */
  issuer: string | null;
  client_id: string;
  client_secret: string;
  scopes: string[];
  role_claim: string;
  role_map: Record<string, Role>;
  default_role: Role | null;
  allowed_domains: string[];
  create_accounts: boolean;
  link_by_email: boolean;
  label: string;
}

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

export const isLoopbackUrl = (url: string): boolean => LOOPBACK_HOSTS.has(new URL(url).hostname);

function checkIssuer(given: string): string {
  if (!URL.canParse(given)) throw new Error('must be a URL');
  const { protocol, username, password, search, hash } = new URL(given);
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    throw new Error('must be the issuer’s plain URL, without credentials, query or fragment');
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackUrl(given))) return given;
  throw new Error('must begin with https:// (http:// only on this machine)');
}

function checkComplete(given: OidcSettings): OidcSettings {
  if (given.issuer !== null && given.client_id === '') throw new Error('needs client_id where issuer is set');
  return given;
}

const DOMAIN_PATTERN = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;

export const oidcSchema = joi
  .object({
    issuer: joi
      .string()
      .max(500)
      .custom(checkIssuer)
      .allow(null)
      .default(null)
      .description('URL of the OpenID Connect provider, as in its discovery document; null disables it'),
    client_id: joi.string().max(500).allow('').default('').description('Id of this service at the provider'),
    client_secret: joi
      .string()
      .max(2000)
      .allow('')
      .secret()
      .default('')
      .description('Client secret; empty for a public client, which only PKCE protects'),
    scopes: joi
      .array()
      .items(joi.string().pattern(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, 'scopes without spaces and quotes'))
      .max(50)
      .custom((given: string[]) => (given.includes('openid') ? given : ['openid', ...given]))
      .default(['openid', 'profile', 'email', 'groups'])
      .description('Scopes to request; Google and Microsoft reject `groups`'),
    role_claim: joi
      .string()
      .min(1)
      .max(200)
      .default('groups')
      .description('Claim with the groups of a user; dots lead into objects (`realm_access.roles`)'),
    role_map: joi
      .object()
      .pattern(joi.string().max(300), joi.string().valid(...ROLES))
      .max(200)
      .default({})
      .description(
        'Role of each group: `{"aos-admins": "admin", "staff": "member"}`. The highest role applies, at each sign-in',
      ),
    default_role: joi
      .string()
      .valid(...ROLES)
      .allow(null)
      .default(null)
      .description('Role of users without a group in `role_map`; null: they cannot sign in'),
    allowed_domains: joi
      .array()
      .items(joi.string().lowercase().pattern(DOMAIN_PATTERN, 'domain names such as example.com'))
      .max(100)
      .default([])
      .description('Domains of verified e-mail addresses that may sign in; empty allows all'),
    create_accounts: joi.boolean().default(true).description('Create an account at the first sign-in'),
    link_by_email: joi
      .boolean()
      .default(false)
      .description(
        'Bind a user’s first sign-in to the account with the same e-mail address, if both sides have verified it',
      ),
    label: joi
      .string()
      .trim()
      .min(1)
      .max(60)
      .default('Sign in with your company account')
      .description('Text of the button'),
  })
  .custom(checkComplete)
  .default();
