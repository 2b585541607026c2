/**
 * Converts a Sentry event to an error report (contract 21, Sentry SDK intake). All known spellings
 * are accepted, and no field can make an event fail.
 */
import type { ErrorLevel } from '../../ports/domain/bugs.js';
import type { ErrorDetails, ErrorReport } from '../../ports/domain/errors.js';
import type { LateFrames, MissingMap } from '../../ports/domain/frames.js';
import type { Json } from '../../ports/store.js';
import { contextOf } from './context.js';
import { chainOf, membersOf, reframed, type Thrown } from './chain.js';
import { framesOf, type StackFrame } from './frames.js';
import { messageOf } from './message.js';
import { isRust, rustFrames } from './rust.js';
import { framesIn, placeOf, stackOf } from './stack.js';
import { instant } from './time.js';
import { userOf } from './user.js';
import { readVersion } from '../../lib/versions.js';
import { line, list, record, records, shallow, text, type Loose } from './values.js';

/** One more than the intake stores, so that the intake notes the truncation. */
const MOST_TAGS = 33;
const MOST_BREADCRUMBS = 51;
const MOST_FINGERPRINT = 33;
const CLIENT_REF = 200;
const UNLABELED = '<unlabeled event>';

const LEVELS: Readonly<Record<string, ErrorLevel>> = {
  fatal: 'fatal',
  critical: 'fatal',
  error: 'error',
  warning: 'warning',
  warn: 'warning',
  info: 'warning',
  debug: 'warning',
  log: 'warning',
};

/** Returns `fatal`, `error`, or `warning` for lower levels. The default is `error`. */
export function levelOf(level: unknown): ErrorLevel {
  const name = typeof level === 'string' ? level.toLowerCase() : '';
  return Object.hasOwn(LEVELS, name) ? (LEVELS[name] ?? 'error') : 'error';
}

/** Returns the version in a release: `1.4.2` of `shop@v1.4.2+b7`; null if there is none. */
export function versionOf(release: unknown): string | null {
  const { name } = readVersion(line(release) ?? '');
  const plus = name.indexOf('+');
  return text(plus < 0 ? name : name.slice(0, plus));
}

const buildNumberOf = (release: unknown): string | null => readVersion(line(release) ?? '').number;

/** Returns an event id without dashes in lower case; null when it is missing or too long. */
export function eventIdOf(value: unknown): string | null {
  const id = line(value)?.trim().replaceAll('-', '').toLowerCase() ?? '';
  return id === '' || id.length > CLIENT_REF ? null : id;
}

const COMMIT = /^[0-9a-f]{40}$/;

/** `details` is used only by stored payloads. */
export interface ReadEvent {
  report: ErrorReport;
  details: () => ErrorDetails;
}

export interface AboutEvent {
  project: string;
  address?: string;
  /** Time of sending by the sender's clock, if stated. */
  sent_at?: string | null;
  id: string;
  missing?: readonly MissingMap[];
  late?: Omit<LateFrames, 'stack'> | null;
}

export function reportOf(event: Loose, about: AboutEvent): ReadEvent {
  const platform = line(event['platform'])?.toLowerCase() ?? null;
  const chain = withFrames(chainOf(event), event, platform);
  const [top] = chain;
  const logged = messageOf(event);
  const exceptionClass = top?.type ?? null;
  const value = top?.value ?? null;
  const isLogged = value === null && exceptionClass === null && logged !== null;
  const message = value ?? (exceptionClass === null ? (logged?.shown ?? UNLABELED) : '');
  const stack = stackOf(chain, platform);
  const version = versionOf(event['release']);
  const report: ErrorReport = {
    project: about.project,
    error_level: levelOf(event['level']),
    error_message: message,
    message_template: isLogged ? logged.template : null,
    members: groupMembers(chain, platform),
    exception_class: exceptionClass,
    file: stack?.file ?? null,
    function: stack?.function ?? null,
    line: stack?.line ?? null,
    late: about.late ? { ...about.late, stack: lateStack(chain) } : null,
    stack_trace: stack?.text ?? null,
    environment: line(event['environment']),
    app_version: version,
    build_number: buildNumberOf(event['release']),
    commit_sha: version !== null && COMMIT.test(version) ? version : null,
    host: line(event['server_name']),
    user: userOf(event['user'], about.address ?? null),
    occurred_at: instant(event['timestamp']),
    sent_at: about.sent_at ?? null,
    client_ref: about.id,
    tags: tagsOf(event['tags']),
    fingerprint: fingerprintOf(event['fingerprint']),
  };
  const details = (): ErrorDetails => ({
    context: contextOf(event, chain, {
      message: logged?.shown === message ? null : (logged?.shown ?? null),
      missing: about.missing ?? [],
    }),
    breadcrumbs: breadcrumbsOf(event['breadcrumbs']),
  });
  return { report, details };
}

/** Returns null unless the exception is a group with several members. */
function groupMembers(chain: readonly Thrown[], platform: string | null): ErrorReport['members'] {
  const members = membersOf(chain);
  if (members.length === 0) return null;
  return members.map(({ type, frames }) => {
    const { file, function: name } = placeOf(frames, platform);
    return { exception_class: type, file, function: name };
  });
}

function withFrames(chain: readonly Thrown[], event: Loose, platform: string | null): readonly Thrown[] {
  const framed = chain.some(({ frames }) => frames.length > 0) ? chain : withLooseFrames(chain, event);
  if (!isRust(event, platform, framed)) return framed;
  return framed.map((thrown) => reframed(thrown, rustFrames(thrown.frames)));
}

const NOTHING_THROWN: Thrown = { type: null, value: null, relation: 'cause', level: 0, frames: [] };

function withLooseFrames([first = NOTHING_THROWN, ...others]: readonly Thrown[], event: Loose): Thrown[] {
  return [reframed(first, looseFrames(event)), ...others];
}

const OBSERVER = /^(?:java\.lang\.Thread|dalvik\.system\.VMStack|io\.sentry\.\S*)$/;

function looseFrames(event: Loose): StackFrame[] {
  const own = framesOf(event['stacktrace']);
  if (own.length > 0) return own;
  const threads = records(event['threads']);
  const thread = threads.find(({ crashed }) => crashed === true) ?? threads.find(({ current }) => current === true);
  const frames = framesOf((thread ?? (threads.length === 1 ? threads[0] : undefined))?.['stacktrace']);
  const first = frames.findIndex(({ module }) => !OBSERVER.test(module ?? ''));
  return first < 0 ? frames : frames.slice(first);
}

function tagsOf(tags: unknown): string[] {
  const map = record(tags);
  if (map === null)
    return list(tags)
      .slice(0, MOST_TAGS)
      .map(tagOf)
      .filter((tag) => tag !== '');
  return Object.entries(map)
    .slice(0, MOST_TAGS)
    .map(tagOf)
    .filter((tag) => tag !== '');
}

function tagOf(tag: unknown): string {
  const pair = record(tag);
  const [key, value] = pair === null ? (Array.isArray(tag) ? tag : [tag, null]) : [pair['key'], pair['value']];
  return [line(key), line(value)].filter((part) => part !== null).join(':');
}

function breadcrumbsOf(breadcrumbs: unknown): Json[] | null {
  const crumbs = list(breadcrumbs).slice(-MOST_BREADCRUMBS);
  if (crumbs.length === 0) return null;
  return crumbs.filter((crumb) => record(crumb) !== null).map(breadcrumb);
}

function breadcrumb(crumb: unknown): Json {
  const kept = shallow(crumb) as { [key: string]: Json };
  const at = instant(kept['timestamp']);
  return at === null ? kept : { ...kept, timestamp: at };
}

function fingerprintOf(fingerprint: unknown): string[] | null {
  if (!Array.isArray(fingerprint)) return null;
  const parts = fingerprint.slice(0, MOST_FINGERPRINT).flatMap((part: unknown) => text(part) ?? []);
  return parts.length === 0 ? null : parts;
}

const MOST_LATE = 50;

function lateStack(chain: readonly Thrown[]): LateFrames['stack'] {
  return framesIn(chain)
    .slice(0, MOST_LATE)
    .flatMap(({ place, absPath, line: at, column, inApp }) => {
      const file = absPath ?? place;
      return file === null || at === null || column === null ? [] : [{ file, line: at, column, in_app: inApp }];
    });
}
