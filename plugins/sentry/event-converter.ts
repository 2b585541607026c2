/**
 * All known spellings are accepted, and no field can make an event fail (contract 21, Sentry SDK
 * intake).
 */
import type { ErrorLevel } from '../../ports/domain/bugs.js';
import type { ErrorDetails, ErrorReport } from '../../ports/domain/errors.js';
import type { UnmappedFrames, MissingMap } from '../../ports/domain/frame-rewriting.js';
import type { Json } from '../../ports/store/index.js';
import { buildContext } from './report-context.js';
import { buildExceptionChain, listGroupMembers, withNewFrames, type ChainedException } from './exception-chain.js';
import { parseFrames, type StackFrame } from './stack-frames.js';
import { parseMessage } from './event-message.js';
import { isRust, normalizeRustFrames } from './rust-frames.js';
import { getFirstFrames, findPlace, formatStack } from './trace-formatter.js';
import { parseInstant } from './event-time.js';
import { findUser } from './event-user.js';
import { parseNamedVersion } from '../../lib/versions.js';
import { toLine, toList, toRecord, toRecords, limitDepth, toText, type UntypedRecord } from './untyped-values.js';

/** One more than stored, so that the intake notes the truncation. */
const MAX_TAGS = 33;
const MAX_BREADCRUMBS = 51;
const MAX_FINGERPRINT_PARTS = 33;
const MAX_CLIENT_REF_LENGTH = 200;
const UNLABELED_TITLE = '<unlabeled event>';

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

/** `fatal`, `error`, or `warning` for lower levels; `error` by default. */
export function toErrorLevel(level: unknown): ErrorLevel {
  const name = typeof level === 'string' ? level.toLowerCase() : '';
  return Object.hasOwn(LEVELS, name) ? (LEVELS[name] ?? 'error') : 'error';
}

/** `1.4.2` of `shop@v1.4.2+b7`, or null without one. */
export function parseReleaseVersion(release: unknown): string | null {
  const { name } = parseNamedVersion(toLine(release) ?? '');
  const plus = name.indexOf('+');
  return toText(plus < 0 ? name : name.slice(0, plus));
}

const parseBuildNumber = (release: unknown): string | null => parseNamedVersion(toLine(release) ?? '').number;

/** Without dashes, in lower case; null when missing or too long. */
export function parseEventId(value: unknown): string | null {
  const id = toLine(value)?.trim().replaceAll('-', '').toLowerCase() ?? '';
  return id === '' || id.length > MAX_CLIENT_REF_LENGTH ? null : id;
}

const COMMIT_PATTERN = /^[0-9a-f]{40}$/;

export interface ConvertedEvent {
  report: ErrorReport;
  details: () => ErrorDetails;
}

export interface EventMetadata {
  project: string;
  address?: string;
  /** By the sender's clock. */
  sent_at?: string | null;
  id: string;
  missing?: readonly MissingMap[];
  late?: Omit<UnmappedFrames, 'stack'> | null;
}

export function convertEvent(event: UntypedRecord, about: EventMetadata): ConvertedEvent {
  const platform = toLine(event['platform'])?.toLowerCase() ?? null;
  const chain = addMissingFrames(buildExceptionChain(event), event, platform);
  const [top] = chain;
  const logged = parseMessage(event);
  const exceptionClass = top?.type ?? null;
  const value = top?.value ?? null;
  const isLogged = value === null && exceptionClass === null && logged !== null;
  const message = value ?? (exceptionClass === null ? (logged?.shown ?? UNLABELED_TITLE) : '');
  const stack = formatStack(chain, platform);
  const version = parseReleaseVersion(event['release']);
  const report: ErrorReport = {
    project: about.project,
    error_level: toErrorLevel(event['level']),
    error_message: message,
    message_template: isLogged ? logged.template : null,
    members: listMembers(chain, platform),
    exception_class: exceptionClass,
    file: stack?.file ?? null,
    function: stack?.function ?? null,
    line: stack?.line ?? null,
    late: about.late ? { ...about.late, stack: buildLateStack(chain) } : null,
    stack_trace: stack?.text ?? null,
    environment: toLine(event['environment']),
    app_version: version,
    build_number: parseBuildNumber(event['release']),
    commit_sha: version !== null && COMMIT_PATTERN.test(version) ? version : null,
    host: toLine(event['server_name']),
    user: findUser(event['user'], about.address ?? null),
    occurred_at: parseInstant(event['timestamp']),
    sent_at: about.sent_at ?? null,
    client_ref: about.id,
    tags: parseTags(event['tags']),
    fingerprint: parseFingerprint(event['fingerprint']),
  };
  const details = (): ErrorDetails => ({
    context: buildContext(event, chain, {
      message: logged?.shown === message ? null : (logged?.shown ?? null),
      missing: about.missing ?? [],
    }),
    breadcrumbs: parseBreadcrumbs(event['breadcrumbs']),
  });
  return { report, details };
}

/** Returns null unless a group with several members. */
function listMembers(chain: readonly ChainedException[], platform: string | null): ErrorReport['members'] {
  const members = listGroupMembers(chain);
  if (members.length === 0) return null;
  return members.map(({ type, frames }) => {
    const { file, function: name } = findPlace(frames, platform);
    return { exception_class: type, file, function: name };
  });
}

function addMissingFrames(
  chain: readonly ChainedException[],
  event: UntypedRecord,
  platform: string | null,
): readonly ChainedException[] {
  const framed = chain.some(({ frames }) => frames.length > 0) ? chain : addLooseFrames(chain, event);
  if (!isRust(event, platform, framed)) return framed;
  return framed.map((thrown) => withNewFrames(thrown, normalizeRustFrames(thrown.frames)));
}

const EMPTY_EXCEPTION: ChainedException = { type: null, value: null, relation: 'cause', level: 0, frames: [] };

function addLooseFrames(
  [first = EMPTY_EXCEPTION, ...others]: readonly ChainedException[],
  event: UntypedRecord,
): ChainedException[] {
  return [withNewFrames(first, findLooseFrames(event)), ...others];
}

const CAPTURE_FRAME_PATTERN = /^(?:java\.lang\.Thread|dalvik\.system\.VMStack|io\.sentry\.\S*)$/;

function findLooseFrames(event: UntypedRecord): StackFrame[] {
  const own = parseFrames(event['stacktrace']);
  if (own.length > 0) return own;
  const threads = toRecords(event['threads']);
  const thread = threads.find(({ crashed }) => crashed === true) ?? threads.find(({ current }) => current === true);
  const frames = parseFrames((thread ?? (threads.length === 1 ? threads[0] : undefined))?.['stacktrace']);
  const first = frames.findIndex(({ module }) => !CAPTURE_FRAME_PATTERN.test(module ?? ''));
  return first < 0 ? frames : frames.slice(first);
}

function parseTags(tags: unknown): string[] {
  const map = toRecord(tags);
  if (map === null)
    return toList(tags)
      .slice(0, MAX_TAGS)
      .map(formatTag)
      .filter((tag) => tag !== '');
  return Object.entries(map)
    .slice(0, MAX_TAGS)
    .map(formatTag)
    .filter((tag) => tag !== '');
}

function formatTag(tag: unknown): string {
  const pair = toRecord(tag);
  const [key, value] = pair === null ? (Array.isArray(tag) ? tag : [tag, null]) : [pair['key'], pair['value']];
  return [toLine(key), toLine(value)].filter((part) => part !== null).join(':');
}

function parseBreadcrumbs(breadcrumbs: unknown): Json[] | null {
  const crumbs = toList(breadcrumbs).slice(-MAX_BREADCRUMBS);
  if (crumbs.length === 0) return null;
  return crumbs.filter((crumb) => toRecord(crumb) !== null).map(toBreadcrumb);
}

function toBreadcrumb(crumb: unknown): Json {
  const fields = limitDepth(crumb) as { [key: string]: Json };
  const at = parseInstant(fields['timestamp']);
  return at === null ? fields : { ...fields, timestamp: at };
}

function parseFingerprint(fingerprint: unknown): string[] | null {
  if (!Array.isArray(fingerprint)) return null;
  const parts = fingerprint.slice(0, MAX_FINGERPRINT_PARTS).flatMap((part: unknown) => toText(part) ?? []);
  return parts.length === 0 ? null : parts;
}

const MAX_LATE_FRAMES = 50;

function buildLateStack(chain: readonly ChainedException[]): UnmappedFrames['stack'] {
  return getFirstFrames(chain)
    .slice(0, MAX_LATE_FRAMES)
    .flatMap(({ place, absPath, line: at, column, inApp }) => {
      const file = absPath ?? place;
      return file === null || at === null || column === null ? [] : [{ file, line: at, column, in_app: inApp }];
    });
}
