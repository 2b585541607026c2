/**
 * Remaining data of an event, as the report's `context`. The most useful fields come first, because
 * a context that is too large is truncated (contract 21, intake).
 */
import { getJsonSize } from '../../lib/json/json-size.js';
import type { MissingMap } from '../../ports/domain/frames.js';
import type { Json } from '../../ports/store.js';
import { framesOfAll, type Thrown } from './chain.js';
import { ownFrame, type StackFrame } from './frames.js';
import { framesIn } from './stack.js';
import { threadsOf } from './threads.js';
import { aboutUser } from './user.js';
import { line, list, record, shallow, text, type Loose } from './values.js';

type JsonObject = { [key: string]: Json };

/** Source lines on each side of a frame. SDKs send five or seven. */
const MOST_SOURCE_LINES = 20;
const MOST_WHOLE = 6;
const MOST_LOCALS = 4096;
const FEWER_LOCALS = 1536;
const LONGEST_LOCAL = 1024;
/** JSON overhead of a source line in characters: `"1041":"",`. */
const LINE_KEY = 10;
const MOST_FRAME_TEXT = 14_336;

export interface Beside {
  message: string | null;
  missing: readonly MissingMap[];
}

export function contextOf(event: Loose, chain: readonly Thrown[], { message, missing }: Beside): JsonObject | null {
  const own = ownFrame(framesIn(chain));
  const { source, frames } = own === null ? NO_FRAMES : keepFrames(chain, own);
  const context: JsonObject = {};
  const put = (name: string, value: Json | null): void => {
    if (value !== null) context[name] = value;
  };
  for (const name of ['transaction', 'logger', 'platform', 'dist', 'release'] as const) put(name, line(event[name]));
  put('message', message);
  put('missing_source_maps', missing.length === 0 ? null : missing.map((map) => ({ ...map })));
  put('sdk', sdkOf(event['sdk']));
  put('source', source);
  put('locals', own === null ? null : localsOf(own, MOST_LOCALS));
  put('frames', frames);
  put('user', aboutUser(event['user']));
  put('request', filled(event['request']));
  put('contexts', filled(event['contexts']));
  put('threads', threadsOf(event, line(event['platform'])?.toLowerCase() ?? null));
  put('extra', filled(event['extra']));
  return Object.keys(context).length === 0 ? null : context;
}

function filled(value: unknown): Json | null {
  const object = record(value);
  return object === null || Object.keys(object).length === 0 ? null : shallow(object);
}

function sdkOf(value: unknown): string | null {
  const sdk = record(value);
  const parts = [line(sdk?.['name']), line(sdk?.['version'])].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' ');
}

interface Source {
  /** `{"41": " return price.total;"}` */
  lines: JsonObject;
  /**
   * Approximate JSON length in characters, counted here because objects with numeric keys are slow
   * to walk.
   */
  size: number;
}

function sourceOf({ line: at, code, given }: StackFrame): Source | null {
  if (code === null) return null;
  const before = list(given['pre_context']).slice(-MOST_SOURCE_LINES);
  const after = list(given['post_context']).slice(0, MOST_SOURCE_LINES);
  const lines: JsonObject = {};
  let number = (at ?? before.length + 1) - before.length;
  let size = 2;
  for (const content of [...before, code, ...after]) {
    const told = text(content) ?? '';
    size += told.length + LINE_KEY;
    lines[number++] = told;
  }
  return { lines, size };
}

function localsOf({ given }: StackFrame, most: number): Json | null {
  const locals = filled(given['vars']) as JsonObject | null;
  if (locals === null) return null;
  const kept: JsonObject = {};
  let room = most;
  for (const [name, value] of Object.entries(locals)) {
    const size = getJsonSize(value, LONGEST_LOCAL);
    const fits = size <= LONGEST_LOCAL ? value : `${JSON.stringify(value).slice(0, LONGEST_LOCAL)}…`;
    room -= name.length + Math.min(size, LONGEST_LOCAL);
    if (room < 0) break;
    kept[name] = fits;
  }
  return kept;
}

const NAMING = ['function', 'filename', 'lineno'] as const;

interface KeptFrame {
  fields: JsonObject;
  size: number;
}

function stated({ given, module, inApp }: StackFrame): KeptFrame | null {
  const path = line(given['abs_path']);
  const origin = line(given['package']);
  if (module === null && path === null && inApp === null && origin === null) return null;
  const raw = filled(given['raw']);
  const kept: JsonObject = {};
  for (const name of NAMING) {
    const value = given[name];
    if (typeof value === 'string' || typeof value === 'number') kept[name] = value;
  }
  if (module !== null) kept['module'] = module;
  if (path !== null) kept['abs_path'] = path;
  if (origin !== null) kept['package'] = origin;
  if (inApp !== null) kept['in_app'] = inApp;
  if (raw !== null) kept['raw'] = raw;
  return { fields: kept, size: getJsonSize(kept, MOST_FRAME_TEXT) };
}

function withSource(frame: StackFrame): KeptFrame | null {
  const source = sourceOf(frame);
  const locals = localsOf(frame, FEWER_LOCALS);
  if (source === null && locals === null) return null;
  const kept = stated(frame) ?? { fields: {}, size: 2 };
  if (source !== null) {
    kept.fields['source'] = source.lines;
    kept.size += source.size + '"source":,'.length;
  }
  if (locals !== null) {
    kept.fields['locals'] = locals;
    kept.size += getJsonSize(locals, MOST_FRAME_TEXT) + '"locals":,'.length;
  }
  return kept;
}

interface KeptFrames {
  source: { readonly [line: string]: Json } | null;
  frames: Json[] | null;
}

const NO_FRAMES: KeptFrames = { source: null, frames: null };

const keepFrames = (chain: readonly Thrown[], own: StackFrame): KeptFrames => ({
  source: sourceOf(own)?.lines ?? null,
  frames: framesKept(framesOfAll(chain), framesIn(chain), own),
});

/**
 * Selects frame data, crash frame first: the application's last frames with source and locals, then
 * its other frames, then library frames.
 * @param main frames of the exception that `own` belongs to
 */
function framesKept(frames: readonly StackFrame[], main: readonly StackFrame[], own: StackFrame): Json[] | null {
  const application = main.some(({ inApp }) => inApp === true) ? main.filter(({ inApp }) => inApp === true) : main;
  const whole = new Set(application.slice(0, MOST_WHOLE));
  const kept = new Map<StackFrame, JsonObject>();
  let room = MOST_FRAME_TEXT;
  const keep = (frame: StackFrame, make: (frame: StackFrame) => KeptFrame | null): void => {
    const made = kept.has(frame) ? null : make(frame);
    if (made === null || made.size > room) return;
    room -= made.size;
    kept.set(frame, made.fields);
  };
  // The context itself has source and locals of the application's frame.
  for (const frame of whole) if (frame !== own) keep(frame, withSource);
  for (const frame of [...application, ...frames]) keep(frame, stated);
  const list = frames.flatMap((frame) => kept.get(frame) ?? []);
  return list.length === 0 ? null : list;
}
