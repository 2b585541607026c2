/**
 * Exceptions of an event: which one provides the title, and how the others relate to it (contract
 * 21, Sentry SDK intake).
 */
import { framesOf, type StackFrame } from './frames.js';
import { isWrapper, isRepeatedCause } from '../../lib/text/wrapped-errors.js';
import { line, record, records, shallow, text, type Loose } from './values.js';

/**
 * `wrapper` wraps the previous exception; `member` is one of the errors that the first one holds.
 */
export type Relation = 'cause' | 'member' | 'wrapper';

export interface Thrown {
  type: string | null;
  value: string | null;
  /** Crash frame first. */
  frames: readonly StackFrame[];
  relation: Relation;
  /**
   * Nesting depth in groups: 1 for a member of the outermost group and for that member's causes.
   */
  level: number;
}

const MOST_THROWN = 10;

/**
 * Go types that only carry another error or a text: of the standard library, `pkg/errors`,
 * `xerrors` and similar.
 */
const NAMELESS =
  /^[*&]?(?:[\w./-]{1,200}\.)?(?:with(?:Stack|Message|Prefix|Detail|Hint|Context)|wrap(?:ped)?Errors?|noWrapError|joinError|errorString|errorT|fundamental|opaque(?:Wrapper|Leaf|LeafCauses))$/;

function valueOf(exception: Loose): string | null {
  const value = exception['value'];
  return record(value) !== null || Array.isArray(value) ? JSON.stringify(shallow(value)) : text(value);
}

function thrownOf(exception: Loose, groups: ReadonlySet<unknown>, levels: Map<unknown, number>): Thrown {
  const type = line(exception['type']);
  const mechanism = record(exception['mechanism']);
  const source = line(mechanism?.['source']) ?? '';
  // A group has a cause too, which is not a member.
  const isMember = groups.has(mechanism?.['parent_id']) && !/cause|context/i.test(source);
  // Parents come first, so an id of a later exception or of itself is invalid.
  const level = (levels.get(mechanism?.['parent_id']) ?? 0) + (isMember ? 1 : 0);
  const id = mechanism?.['exception_id'];
  if (id !== undefined && !levels.has(id)) levels.set(id, level);
  return {
    type: type !== null && NAMELESS.test(type) ? null : type,
    value: valueOf(exception),
    frames: framesOf(exception['stacktrace']),
    relation: isMember ? 'member' : 'cause',
    level,
  };
}

/**
 * Property of the group that holds the member: `errors[0]`, `exceptions[1]`, `InnerExceptions[0]`.
 */
const HELD = /^(?:errors|exceptions|_?inner_?exceptions)\[/i;

export function chainOf(event: Loose): Thrown[] {
  const given = records(event['exception']).slice(-MOST_THROWN).reverse();
  const mechanisms = given.map((exception) => record(exception['mechanism']));
  const flagged = mechanisms.filter((one) => one?.['is_exception_group'] === true).map((one) => one?.['exception_id']);
  const held = mechanisms.filter((one) => HELD.test(line(one?.['source']) ?? '')).map((one) => one?.['parent_id']);
  const groups = new Set(flagged.length > 0 ? flagged : held);
  const levels = new Map<unknown, number>();
  const chain = given.map((exception) => thrownOf(exception, groups, levels));
  return titledFirst(chain, given, pathToTitle(chain, given));
}

/**
 * Returns the indices from the outermost exception to the one that provides the title. Wrappers
 * without a name or message defer to what they wrap, and groups with one member to that member.
 */
function pathToTitle(chain: readonly Thrown[], given: readonly Loose[]): number[] {
  const path = [0];
  for (;;) {
    const inner = innerOf(chain, given, path.at(-1) ?? 0);
    if (inner === null) return path;
    path.push(inner);
  }
}

function innerOf(chain: readonly Thrown[], given: readonly Loose[], at: number): number | null {
  if (at === chain.length - 1) return null;
  const mechanism = record(given[at]?.['mechanism']);
  const id = mechanism?.['exception_id'];
  const held = given.flatMap((one, i) =>
    i > at && id !== undefined && record(one['mechanism'])?.['parent_id'] === id ? [i] : [],
  );
  const members = held.filter((i) => chain[i]?.relation === 'member');
  if (members.length > 0) return members.length === 1 ? (members[0] ?? null) : null;
  const { type = null, value = null } = chain[at] ?? {};
  if (mechanism?.['is_exception_group'] === true) return null;
  const cause = held.find((i) => chain[i]?.relation === 'cause') ?? at + 1;
  const inner = chain[cause];
  if (!(
    isNameless(given[at]) ||
    isWrapper(type, value) ||
    (inner !== undefined && repeats(value, inner, given[cause]))
  ))
    return null;
  return inner?.relation === 'cause' && (inner.type !== null || inner.value !== null) ? cause : null;
}

/**
 * Checks whether the message repeats the cause's text. Java SDKs report the package separately in
 * `module`.
 */
function repeats(value: string | null, { type, value: message }: Thrown, given: Loose | undefined): boolean {
  const module = line(given?.['module']);
  const names = module === null ? [type] : [type, `${module}.${type ?? ''}`];
  return names.some((name) => isRepeatedCause(value, { type: name, message }));
}

/** Moves wrappers behind what they wrap, which receives the stack captured for it. */
function titledFirst(chain: readonly Thrown[], given: readonly Loose[], path: readonly number[]): Thrown[] {
  const at = path.at(-1) ?? 0;
  const [outermost] = chain;
  const titled = chain[at];
  if (outermost === undefined || titled === undefined || at === 0) return [...chain];
  const hasOwnText = titled.type !== null || !isNameless(given[0]);
  // The innermost stack was captured where the error was created.
  const from = path.findLast((i) => (chain[i]?.frames.length ?? 0) > 0) ?? at;
  const first: Thrown = {
    type: titled.type,
    value: hasOwnText ? titled.value : outermost.value,
    frames: chain[from]?.frames ?? [],
    relation: 'cause',
    level: 0,
  };
  const inner = chain
    .filter((_, i) => !path.includes(i))
    .map((one) => reframed(one, one.frames, one.relation, Math.max(0, one.level - titled.level)));
  const wrappers = path
    .slice(0, -1)
    .flatMap((i) => chain.slice(i, i + 1).map((one) => reframed(one, i === from ? [] : one.frames, 'wrapper')))
    .filter(({ value, frames }) => frames.length > 0 || (value !== null && value !== first.value));
  return [first, ...inner, ...wrappers.toReversed()];
}

export const framesOfAll = (chain: readonly Thrown[]): readonly StackFrame[] =>
  chain.length === 1 ? (chain[0] as Thrown).frames : chain.flatMap(({ frames }) => frames);

export const reframed = (
  { type, value, relation: before, level: depth }: Thrown,
  frames: readonly StackFrame[],
  relation = before,
  level = depth,
): Thrown => ({ type, value, frames, relation, level });

const isNameless = (exception: Loose | undefined): boolean => NAMELESS.test(line(exception?.['type']) ?? '');

export const membersOf = (chain: readonly Thrown[]): readonly Thrown[] =>
  chain.slice(1).filter(({ relation }) => relation === 'member');

const HEADING = 500;

export const headingOf = ({ type, value }: Thrown): string =>
  [type, line(value?.slice(0, HEADING))].filter((part) => part !== null).join(': ');
