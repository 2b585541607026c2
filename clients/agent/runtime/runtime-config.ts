/**
 * Parses `<application>.runtimeconfig.json`: required frameworks and their roll-forward policy
 * (contract 90, runtime check).
 */
import { parse } from 'jsonc-parser';
import { isFrameworkVersion, POLICIES, type FrameworkReference, type Policy } from './roll-forward.js';

type Env = Readonly<Record<string, string | undefined>>;
type Members = Readonly<Record<string, unknown>>;

/** Names become part of a command that users copy. */
const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,99}$/;
const ON_NO_CANDIDATE: readonly Policy[] = ['LatestPatch', 'Minor', 'Major'];

/** @returns empty for a self-contained application; null when the text is not such a file */
export function readRuntimeConfig(text: string, env: Env): FrameworkReference[] | null {
  const options = record(record(parse(text, [], { allowTrailingComma: true }))?.runtimeOptions);
  if (options === null) return null;
  const { framework, frameworks } = options;
  const listed = Array.isArray(frameworks) ? frameworks : framework === undefined ? [] : [framework];
  const references: FrameworkReference[] = [];
  for (const one of listed) {
    const { name, version } = record(one) ?? {};
    if (typeof name !== 'string' || !NAME.test(name) || typeof version !== 'string' || !isFrameworkVersion(version))
      return null;
    references.push({
      name,
      version,
      policy: policyOf(record(one) ?? {}, options, env),
      applyPatches: options.applyPatches !== false,
    });
  }
  return references;
}

function policyOf(own: Members, whole: Members, env: Env): Policy {
  return (
    named(env.DOTNET_ROLL_FORWARD) ??
    named(own.rollForward) ??
    numbered(own.rollForwardOnNoCandidateFx) ??
    named(whole.rollForward) ??
    numbered(env.DOTNET_ROLL_FORWARD_ON_NO_CANDIDATE_FX) ??
    numbered(whole.rollForwardOnNoCandidateFx) ??
    'Minor'
  );
}

const named = (value: unknown): Policy | undefined =>
  typeof value === 'string' ? POLICIES.find((policy) => policy.toLowerCase() === value.toLowerCase()) : undefined;

const numbered = (value: unknown): Policy | undefined =>
  typeof value === 'number' || typeof value === 'string' ? ON_NO_CANDIDATE[Number(value)] : undefined;

const record = (value: unknown): Members | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;
