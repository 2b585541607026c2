import type { ScriptFrame } from '../../ports/domain/frame-rewriting.js';
import type { SourcePosition } from '../../ports/source-map-reader.js';

export interface TextFrame extends ScriptFrame {
  at: number;
  form: 'v8' | 'at';
  indent: string;
  function: string;
}

const MAX_LINES = 200;
const MAX_LINE_LENGTH = 2_000;
const POSITION_PATTERN = /:(\d{1,9}):(\d{1,9})\)?\s{0,4}$/;
const SCRIPT_URL_PATTERN = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s()]{1,1900}\.[cm]?js$/i;

export function findScriptFrames(trace: string): TextFrame[] {
  // Most traces have only file names.
  return trace.includes('://') ? parseTextFrames(trace, parseScriptUrl) : [];
}

export const findFramesOfScripts = (trace: string, scripts: ReadonlyMap<string, string>): TextFrame[] =>
  parseTextFrames(trace, (name) => scripts.get(name) ?? null);

const parseTextFrames = (trace: string, fileOf: (name: string) => string | null): TextFrame[] =>
  trace.split('\n', MAX_LINES).flatMap((line, at) => parseTextFrame(line, at, fileOf) ?? []);

const parseScriptUrl = (name: string): string | null =>
  SCRIPT_URL_PATTERN.test(name.split(/[?#]/, 1)[0] ?? '') ? name : null;

function parseTextFrame(text: string, at: number, fileOf: (name: string) => string | null): TextFrame | null {
  const place = text.length > MAX_LINE_LENGTH ? null : POSITION_PATTERN.exec(text);
  if (place === null) return null;
  const head = text.slice(0, place.index);
  const body = head.trimStart();
  const indent = head.slice(0, head.length - body.length);
  const [name, given] = body.startsWith('at ') ? parseV8Frame(body.slice(3)) : parseGeckoFrame(body);
  const [line, column] = [Number(place[1]), Number(place[2])];
  const file = fileOf(given);
  if (file === null || line < 1 || column < 1) return null;
  return { at, form: body.startsWith('at ') ? 'v8' : 'at', indent, function: name, file, line, column };
}

function parseV8Frame(body: string): [name: string, file: string] {
  const open = body.lastIndexOf(' (');
  return open < 0 ? ['', body.replace(/^async /, '')] : [body.slice(0, open), body.slice(open + 2)];
}

function parseGeckoFrame(body: string): [name: string, file: string] {
  const sign = body.indexOf('@');
  return [body.slice(0, Math.max(0, sign)), body.slice(sign + 1)];
}

export function replaceFrames(
  trace: string,
  frames: readonly TextFrame[],
  positions: readonly (SourcePosition | null)[],
): string {
  const lines = trace.split('\n');
  frames.forEach(({ at, form, indent, function: named }, i) => {
    const position = positions[i] ?? null;
    if (position === null) return;
    const place = `${position.file}:${position.line}:${position.column}`;
    // The engine's name is the minified one.
    const name = position.function ?? (named.startsWith('async ') ? 'async' : '');
    lines[at] =
      form === 'v8' ? `${indent}at ${name === '' ? place : `${name} (${place})`}` : `${indent}${name}@${place}`;
  });
  return lines.join('\n');
}
