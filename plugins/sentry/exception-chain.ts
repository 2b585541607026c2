/**
 * Which exception provides the title, and how the others relate to it (contract 21, Sentry SDK
 * intake).
 */
import { parseFrames, type StackFrame } from './stack-frames.js';
import { isWrapperError, isRepeatedCause } from '../../lib/text/wrapped-errors.js';
import { toLine, toRecord, toRecords, limitDepth, toText, type UntypedRecord } from './untyped-values.js';

/** `wrapper` wraps the previous exception; `member` is one that the first one holds. */
export type ExceptionRelation = 'cause' | 'member' | 'wrapper';

export interface ChainedException {
  type: string | null;
  value: string | null;
  /** Crash frame first. */
  frames: readonly StackFrame[];
  relation: ExceptionRelation;
  /** 1 for a member of the outermost group and its causes. */
  level: number;
}

const MAX_EXCEPTIONS = 10;

/**
 * Go types that only carry another error or a text: of the standard library, `pkg/errors`,
 * `xerrors` and similar.
 */
const WRAPPER_TYPE_PATTERN =
  /^[*&]?(?:[\w./-]{1,200}\.)?(?:with(?:Stack|Message|Prefix|Detail|Hint|Context)|wrap(?:ped)?Errors?|noWrapError|joinError|errorString|errorT|fundamental|opaque(?:Wrapper|Leaf|LeafCauses))$/;

function getExceptionText(exception: UntypedRecord): string | null {
  const value = exception['value'];
  return toRecord(value) !== null || Array.isArray(value) ? JSON.stringify(limitDepth(value)) : toText(value);
}

function toChainedException(
  exception: UntypedRecord,
  groups: ReadonlySet<unknown>,
  levels: Map<unknown, number>,
): ChainedException {
  const type = toLine(exception['type']);
  const mechanism = toRecord(exception['mechanism']);
  const source = toLine(mechanism?.['source']) ?? '';
  // A group's cause is not a member.
  const isMember = groups.has(mechanism?.['parent_id']) && !/cause|context/i.test(source);
  // Parents come first; other ids are invalid.
  const level = (levels.get(mechanism?.['parent_id']) ?? 0) + (isMember ? 1 : 0);
  const id = mechanism?.['exception_id'];
  if (id !== undefined && !levels.has(id)) levels.set(id, level);
  return {
    type: type !== null && WRAPPER_TYPE_PATTERN.test(type) ? null : type,
    value: getExceptionText(exception),
    frames: parseFrames(exception['stacktrace']),
    relation: isMember ? 'member' : 'cause',
    level,
  };
}

/** `errors[0]`, `exceptions[1]`, `InnerExceptions[0]`. */
const MEMBER_SOURCE_PATTERN = /^(?:errors|exceptions|_?inner_?exceptions)\[/i;

export function buildExceptionChain(event: UntypedRecord): ChainedException[] {
  const given = toRecords(event['exception']).slice(-MAX_EXCEPTIONS).reverse();
  const mechanisms = given.map((exception) => toRecord(exception['mechanism']));
  const flagged = mechanisms.filter((one) => one?.['is_exception_group'] === true).map((one) => one?.['exception_id']);
  const held = mechanisms
    .filter((one) => MEMBER_SOURCE_PATTERN.test(toLine(one?.['source']) ?? ''))
    .map((one) => one?.['parent_id']);
  const groups = new Set(flagged.length > 0 ? flagged : held);
  const levels = new Map<unknown, number>();
  const chain = given.map((exception) => toChainedException(exception, groups, levels));
  return moveTitleFirst(chain, given, findPathToTitle(chain, given));
}

/**
 * Starts at the outermost exception. Wrappers without a name or message defer to what they wrap,
 * and groups with one member to that member.
 */
function findPathToTitle(chain: readonly ChainedException[], given: readonly UntypedRecord[]): number[] {
  const path = [0];
  for (;;) {
    const inner = findInner(chain, given, path.at(-1) ?? 0);
    if (inner === null) return path;
    path.push(inner);
  }
}

function findInner(chain: readonly ChainedException[], given: readonly UntypedRecord[], at: number): number | null {
  if (at === chain.length - 1) return null;
  const mechanism = toRecord(given[at]?.['mechanism']);
  const id = mechanism?.['exception_id'];
  const held = given.flatMap((one, i) =>
    i > at && id !== undefined && toRecord(one['mechanism'])?.['parent_id'] === id ? [i] : [],
  );
  const members = held.filter((i) => chain[i]?.relation === 'member');
  if (members.length > 0) return members.length === 1 ? (members[0] ?? null) : null;
  const { type = null, value = null } = chain[at] ?? {};
  if (mechanism?.['is_exception_group'] === true) return null;
  const cause = held.find((i) => chain[i]?.relation === 'cause') ?? at + 1;
  const inner = chain[cause];
  if (!(
    isNameless(given[at]) ||
    isWrapperError(type, value) ||
    (inner !== undefined && isRepeatedMessage(value, inner, given[cause]))
  ))
    return null;
  return inner?.relation === 'cause' && (inner.type !== null || inner.value !== null) ? cause : null;
}

/**
 * Checks whether the message repeats the cause's text. Java SDKs report the package separately in
 * `module`.
 */
function isRepeatedMessage(
  value: string | null,
  { type, value: message }: ChainedException,
  given: UntypedRecord | undefined,
): boolean {
  const module = toLine(given?.['module']);
  const names = module === null ? [type] : [type, `${module}.${type ?? ''}`];
  return names.some((name) => isRepeatedCause(value, { type: name, message }));
}

/** What they wrap gets the stack captured for it. */
function moveTitleFirst(
  chain: readonly ChainedException[],
  given: readonly UntypedRecord[],
  path: readonly number[],
): ChainedException[] {
  const at = path.at(-1) ?? 0;
  const [outermost] = chain;
  const titled = chain[at];
  if (outermost === undefined || titled === undefined || at === 0) return [...chain];
  const hasOwnText = titled.type !== null || !isNameless(given[0]);
  // Captured where the error was created.
  const from = path.findLast((i) => (chain[i]?.frames.length ?? 0) > 0) ?? at;
  const first: ChainedException = {
    type: titled.type,
    value: hasOwnText ? titled.value : outermost.value,
    frames: chain[from]?.frames ?? [],
    relation: 'cause',
    level: 0,
  };
  const inner = chain
    .filter((_, i) => !path.includes(i))
    .map((one) => withNewFrames(one, one.frames, one.relation, Math.max(0, one.level - titled.level)));
  const wrappers = path
    .slice(0, -1)
    .flatMap((i) => chain.slice(i, i + 1).map((one) => withNewFrames(one, i === from ? [] : one.frames, 'wrapper')))
    .filter(({ value, frames }) => frames.length > 0 || (value !== null && value !== first.value));
  return [first, ...inner, ...wrappers.toReversed()];
}

export const listAllFrames = (chain: readonly ChainedException[]): readonly StackFrame[] =>
  chain.length === 1 ? (chain[0] as ChainedException).frames : chain.flatMap(({ frames }) => frames);

export const withNewFrames = (
  { type, value, relation: before, level: depth }: ChainedException,
  frames: readonly StackFrame[],
  relation = before,
  level = depth,
): ChainedException => ({ type, value, frames, relation, level });

const isNameless = (exception: UntypedRecord | undefined): boolean =>
  WRAPPER_TYPE_PATTERN.test(toLine(exception?.['type']) ?? '');

export const listGroupMembers = (chain: readonly ChainedException[]): readonly ChainedException[] =>
  chain.slice(1).filter(({ relation }) => relation === 'member');

const MAX_HEADING_LENGTH = 500;

export const formatHeading = ({ type, value }: ChainedException): string =>
  [type, toLine(value?.slice(0, MAX_HEADING_LENGTH))].filter((part) => part !== null).join(': ');
