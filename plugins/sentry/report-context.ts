/**
 * The most useful fields come first, because a large context is truncated (contract 21, intake).
 */
import { getJsonSize } from '../../lib/json/json-size.js';
import type { MissingMap } from '../../ports/domain/frame-rewriting.js';
import type { Json } from '../../ports/store/index.js';
import { listAllFrames, type ChainedException } from './exception-chain.js';
import { findOwnFrame, type StackFrame } from './stack-frames.js';
import { getFirstFrames } from './trace-formatter.js';
import { buildThreads } from './event-threads.js';
import { getUserDetails } from './event-user.js';
import { toLine, toList, toRecord, limitDepth, toText, type UntypedRecord } from './untyped-values.js';

type JsonObject = { [key: string]: Json };

/** SDKs send five or seven. */
const MAX_SOURCE_LINES = 20;
const MAX_DETAILED_FRAMES = 6;
const MAX_CRASH_LOCALS_LENGTH = 4096;
const MAX_LOCALS_LENGTH = 1536;
const MAX_LOCAL_LENGTH = 1024;
/** In characters: `"1041":"",`. */
const LINE_KEY_LENGTH = 10;
const MAX_FRAMES_LENGTH = 14_336;

export interface ContextExtras {
  message: string | null;
  missing: readonly MissingMap[];
}

export function buildContext(
  event: UntypedRecord,
  chain: readonly ChainedException[],
  { message, missing }: ContextExtras,
): JsonObject | null {
  const own = findOwnFrame(getFirstFrames(chain));
  const { source, frames } = own === null ? NO_FRAMES : buildContextFrames(chain, own);
  const context: JsonObject = {};
  const put = (name: string, value: Json | null): void => {
    if (value !== null) context[name] = value;
  };
  for (const name of ['transaction', 'logger', 'platform', 'dist', 'release'] as const) put(name, toLine(event[name]));
  put('message', message);
  put('missing_source_maps', missing.length === 0 ? null : missing.map((map) => ({ ...map })));
  put('sdk', formatSdk(event['sdk']));
  put('source', source);
  put('locals', own === null ? null : boundLocals(own, MAX_CRASH_LOCALS_LENGTH));
  put('frames', frames);
  put('user', getUserDetails(event['user']));
  put('request', toNonEmptyObject(event['request']));
  put('contexts', toNonEmptyObject(event['contexts']));
  put('threads', buildThreads(event, toLine(event['platform'])?.toLowerCase() ?? null));
  put('extra', toNonEmptyObject(event['extra']));
  return Object.keys(context).length === 0 ? null : context;
}

function toNonEmptyObject(value: unknown): Json | null {
  const object = toRecord(value);
  return object === null || Object.keys(object).length === 0 ? null : limitDepth(object);
}

function formatSdk(value: unknown): string | null {
  const sdk = toRecord(value);
  const parts = [toLine(sdk?.['name']), toLine(sdk?.['version'])].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' ');
}

interface Source {
  /** `{"41": " return price.total;"}` */
  lines: JsonObject;
  /** Approximate, in characters: objects with numeric keys are slow to walk. */
  size: number;
}

function buildSource({ line: at, code, given }: StackFrame): Source | null {
  if (code === null) return null;
  const before = toList(given['pre_context']).slice(-MAX_SOURCE_LINES);
  const after = toList(given['post_context']).slice(0, MAX_SOURCE_LINES);
  const lines: JsonObject = {};
  let number = (at ?? before.length + 1) - before.length;
  let size = 2;
  for (const content of [...before, code, ...after]) {
    const lineText = toText(content) ?? '';
    size += lineText.length + LINE_KEY_LENGTH;
    lines[number++] = lineText;
  }
  return { lines, size };
}

function boundLocals({ given }: StackFrame, most: number): Json | null {
  const locals = toNonEmptyObject(given['vars']) as JsonObject | null;
  if (locals === null) return null;
  const boundedLocals: JsonObject = {};
  let remainingLength = most;
  for (const [name, value] of Object.entries(locals)) {
    const size = getJsonSize(value, MAX_LOCAL_LENGTH);
    const fits = size <= MAX_LOCAL_LENGTH ? value : `${JSON.stringify(value).slice(0, MAX_LOCAL_LENGTH)}…`;
    remainingLength -= name.length + Math.min(size, MAX_LOCAL_LENGTH);
    if (remainingLength < 0) break;
    boundedLocals[name] = fits;
  }
  return boundedLocals;
}

const LOCATION_FIELDS = ['function', 'filename', 'lineno'] as const;

interface FrameData {
  fields: JsonObject;
  size: number;
}

function buildFrameData({ given, module, inApp }: StackFrame): FrameData | null {
  const path = toLine(given['abs_path']);
  const origin = toLine(given['package']);
  if (module === null && path === null && inApp === null && origin === null) return null;
  const raw = toNonEmptyObject(given['raw']);
  const frameFields: JsonObject = {};
  for (const name of LOCATION_FIELDS) {
    const value = given[name];
    if (typeof value === 'string' || typeof value === 'number') frameFields[name] = value;
  }
  if (module !== null) frameFields['module'] = module;
  if (path !== null) frameFields['abs_path'] = path;
  if (origin !== null) frameFields['package'] = origin;
  if (inApp !== null) frameFields['in_app'] = inApp;
  if (raw !== null) frameFields['raw'] = raw;
  return { fields: frameFields, size: getJsonSize(frameFields, MAX_FRAMES_LENGTH) };
}

function buildFrameDataWithSource(frame: StackFrame): FrameData | null {
  const source = buildSource(frame);
  const locals = boundLocals(frame, MAX_LOCALS_LENGTH);
  if (source === null && locals === null) return null;
  const frameData = buildFrameData(frame) ?? { fields: {}, size: 2 };
  if (source !== null) {
    frameData.fields['source'] = source.lines;
    frameData.size += source.size + '"source":,'.length;
  }
  if (locals !== null) {
    frameData.fields['locals'] = locals;
    frameData.size += getJsonSize(locals, MAX_FRAMES_LENGTH) + '"locals":,'.length;
  }
  return frameData;
}

interface ContextFrames {
  source: { readonly [line: string]: Json } | null;
  frames: Json[] | null;
}

const NO_FRAMES: ContextFrames = { source: null, frames: null };

const buildContextFrames = (chain: readonly ChainedException[], own: StackFrame): ContextFrames => ({
  source: buildSource(own)?.lines ?? null,
  frames: selectFrames(listAllFrames(chain), getFirstFrames(chain), own),
});

/**
 * Lists the crash frame first: the application's last frames with source and locals, then its
 * others, then libraries.
 * @param main frames of the exception of `own`
 */
function selectFrames(frames: readonly StackFrame[], main: readonly StackFrame[], own: StackFrame): Json[] | null {
  const application = main.some(({ inApp }) => inApp === true) ? main.filter(({ inApp }) => inApp === true) : main;
  const whole = new Set(application.slice(0, MAX_DETAILED_FRAMES));
  const selected = new Map<StackFrame, JsonObject>();
  let remainingLength = MAX_FRAMES_LENGTH;
  const keep = (frame: StackFrame, make: (frame: StackFrame) => FrameData | null): void => {
    const made = selected.has(frame) ? null : make(frame);
    if (made === null || made.size > remainingLength) return;
    remainingLength -= made.size;
    selected.set(frame, made.fields);
  };
  // The context itself has the application frame's source and locals.
  for (const frame of whole) if (frame !== own) keep(frame, buildFrameDataWithSource);
  for (const frame of [...application, ...frames]) keep(frame, buildFrameData);
  const list = frames.flatMap((frame) => selected.get(frame) ?? []);
  return list.length === 0 ? null : list;
}
