/**
 * Parses `<application>.runtimeconfig.json`: required frameworks and their roll-forward policy
 * (contract 90, runtime check).
 */
import { parse } from 'jsonc-parser';
import {
  isFrameworkVersion,
  ROLL_FORWARD_POLICIES,
  type FrameworkReference,
  type RollForwardPolicy,
} from './roll-forward.js';

type Env = Readonly<Record<string, string | undefined>>;
type JsonMembers = Readonly<Record<string, unknown>>;

/** Names become part of a command that users copy. */
const FRAMEWORK_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9._-]{0,99}$/;
const POLICIES_BY_NUMBER: readonly RollForwardPolicy[] = ['LatestPatch', 'Minor', 'Major'];

/** @returns empty for a self-contained application; null when the text is not such a file */
export function parseRuntimeConfig(text: string, env: Env): FrameworkReference[] | null {
  const options = toMembers(toMembers(parse(text, [], { allowTrailingComma: true }))?.runtimeOptions);
  if (options === null) return null;
  const { framework, frameworks } = options;
  const listed = Array.isArray(frameworks) ? frameworks : framework === undefined ? [] : [framework];
  const references: FrameworkReference[] = [];
  for (const one of listed) {
    const { name, version } = toMembers(one) ?? {};
    if (
      typeof name !== 'string' ||
      !FRAMEWORK_NAME_PATTERN.test(name) ||
      typeof version !== 'string' ||
      !isFrameworkVersion(version)
    )
      return null;
    references.push({
      name,
      version,
      policy: resolvePolicy(toMembers(one) ?? {}, options, env),
      applyPatches: options.applyPatches !== false,
    });
  }
  return references;
}

function resolvePolicy(own: JsonMembers, whole: JsonMembers, env: Env): RollForwardPolicy {
  return (
    parsePolicyName(env.DOTNET_ROLL_FORWARD) ??
    parsePolicyName(own.rollForward) ??
    parsePolicyNumber(own.rollForwardOnNoCandidateFx) ??
    parsePolicyName(whole.rollForward) ??
    parsePolicyNumber(env.DOTNET_ROLL_FORWARD_ON_NO_CANDIDATE_FX) ??
    parsePolicyNumber(whole.rollForwardOnNoCandidateFx) ??
    'Minor'
  );
}

const parsePolicyName = (value: unknown): RollForwardPolicy | undefined =>
  typeof value === 'string'
    ? ROLL_FORWARD_POLICIES.find((policy) => policy.toLowerCase() === value.toLowerCase())
    : undefined;

const parsePolicyNumber = (value: unknown): RollForwardPolicy | undefined =>
  typeof value === 'number' || typeof value === 'string' ? POLICIES_BY_NUMBER[Number(value)] : undefined;

const toMembers = (value: unknown): JsonMembers | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMembers) : null;
