import Joi from 'joi';
import type { BasicGuard } from '../../ports/http/index.js';
import { functionSchema, type SchemaOf } from './part-schemas.js';

export function findAccessFaults(access: unknown, scopes: ReadonlySet<string>): string[] {
  if (access === undefined || (Array.isArray(access) && access.length === 0)) return ['declares no access'];
  if (access === 'public' || isBasicRule(access)) return [];
  return [access].flat().flatMap((rule: unknown) => findRuleFaults(rule, scopes));
}

export const formatUnknownRule = (rule: unknown): string => `has an unknown access: ${JSON.stringify(rule)}`;
export const isSessionRule = (rule: object): boolean => {
  const role: unknown = (rule as { session?: unknown }).session;
  return role === 'admin' || role === 'member';
};
/** HTTP Basic cannot be combined with other rules. */
const isBasicRule = (access: unknown): boolean =>
  access !== null &&
  typeof access === 'object' &&
  'basic' in access &&
  basicRuleSchema.validate(access, { convert: false, allowUnknown: false }).error === undefined;
const basicRuleSchema = Joi.object({
  basic: Joi.object({ realm: Joi.string().required(), authorize: functionSchema } satisfies SchemaOf<BasicGuard>)
    .unknown()
    .required(),
}).required();

function findRuleFaults(rule: unknown, scopes: ReadonlySet<string>): string[] {
  if (rule === null || typeof rule !== 'object') return [formatUnknownRule(rule)];
  const { intake, ...rest } = rule as Record<string, unknown>;
  const [kind, ...more] = Object.keys(rest);
  const requiredScopes = kind === 'scope' ? [rest['scope']] : kind === 'anyScope' ? rest['anyScope'] : null;
  if (more.length > 0 || (intake !== undefined && requiredScopes === null)) return [formatUnknownRule(rule)];
  if (
    Array.isArray(requiredScopes) &&
    requiredScopes.length > 0 &&
    requiredScopes.every((scope) => typeof scope === 'string')
  ) {
    const unknown = requiredScopes.filter((scope) => !scopes.has(scope));
    return unknown.map((scope) => `requires the scope "${scope}", which no plugin registers`);
  }
  const known =
    kind === 'anyToken' || kind === 'sharedKey' ? rest[kind] === true : kind === 'session' && isSessionRule(rest);
  return known ? [] : [formatUnknownRule(rule)];
}
