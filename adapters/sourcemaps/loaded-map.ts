/**
 * A parsed source map that decodes only what a lookup needs. Numbers in the map are untrusted and
 * may point nowhere.
 */
import { isAscii } from 'node:buffer';
import type { ScriptPosition, SourcePosition } from '../../ports/source-map-reader.js';
import { parseFunctions, type NamePlace, type ScriptFunction, type ScriptFunctions } from './script-functions.js';
import { UPLOAD_LIMITS } from './limits.js';
import { parseMapOutline, type MapSection, type PlainMap } from './map-outline.js';
import { MappingIndex } from './mapping-index.js';
import { createCpuBudget, type BudgetCheck } from './cpu-budget.js';

/**
 * Context lines on each side (contract 21, Beyond the specification: what JavaScript and releases
 * need).
 */
const CONTEXT_LINES = 5;
const MAX_LINE_LENGTH = 300;
const MAX_PATH_LENGTH = 500;
const MAX_NAME_LENGTH = 200;

const NAME_PATTERN = /^#?[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]{0,199}/u;
const SCHEME_PATTERN = /^[a-z][a-z0-9+.-]{0,30}:\/{0,3}/i;

interface OriginalPlace {
  map: PlainMap;
  source: number;
  file: string;
  line: number;
  column: number;
  name: string | null;
}

interface IndexedSection extends MapSection {
  index: MappingIndex;
}

/** Returns `src/cart.ts` for `webpack://shop/./src/cart.ts?4f2a` and `../../src/cart.ts`. */
export function toFilePath(source: string): string {
  const webpack = /^webpack:\/\/(?:[^/]{0,200}\/)?/i.exec(source);
  const path =
    source.slice(webpack?.[0].length ?? SCHEME_PATTERN.exec(source)?.[0].length ?? 0).split(/[?#]/, 1)[0] ?? '';
  const named = path.replaceAll('\\', '/').replace(/^(?:\.{0,2}\/){1,50}/, '');
  return (named === '' ? source : named).slice(-MAX_PATH_LENGTH);
}

export class LoadedMap {
  readonly #sections: readonly IndexedSection[];
  readonly #script: LoadedScript | null;
  readonly bytes: number;

  /** @throws MapRefused */
  constructor(map: Buffer, script: Buffer | null, spend: BudgetCheck) {
    this.#sections = parseMapOutline(map).map(({ line, column, map: part }) => {
      spend();
      return { line, column, map: part, index: new MappingIndex(part.mappings, spend) };
    });
    this.#script = script === null ? null : new LoadedScript(script);
    this.bytes =
      map.length +
      (this.#script?.bytes ?? 0) +
      this.#sections.reduce(
        (sum, { index, map: { sources, contents, names } }) =>
          sum + 1_000 + index.bytes + sources.bytes + contents.bytes + names.bytes,
        0,
      );
  }

  locate({ line, column }: ScriptPosition, spend: BudgetCheck): SourcePosition | null {
    spend();
    const place = this.#findPlace(line, column - 1);
    if (place === null) return null;
    return {
      file: toFilePath(place.file),
      line: place.line,
      column: place.column + 1,
      function: this.#getFunctionName(line, column - 1),
      source: this.#getContext(place),
    };
  }

  #findPlace(line: number, column: number): OriginalPlace | null {
    if (line < 1 || column < 0) return null;
    const section = this.#sections.findLast(
      (one) => one.line < line - 1 || (one.line === line - 1 && one.column <= column),
    );
    if (section === undefined) return null;
    const { map, index } = section;
    const found = index.find(line - 1 - section.line, section.line === line - 1 ? column - section.column : column);
    const source = found === null ? null : map.sources.getName(found.source);
    if (found === null || source === null || found.line < 0 || found.column < 0) return null;
    const file = map.sourceRoot ? `${map.sourceRoot.replace(/\/$/, '')}/${source}` : source;
    const name = found.name < 0 ? null : map.names.getName(found.name);
    return { map, source: found.source, file, line: found.line + 1, column: found.column, name };
  }

  #getContext({ map, source, line }: OriginalPlace): SourcePosition['source'] {
    const text = map.contents.getText(source);
    const own = text?.getLine(line, 0, MAX_LINE_LENGTH) ?? null;
    if (text === null || own === null) return null;
    const lines = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, i) => text.getLine(from + i, 0, MAX_LINE_LENGTH)).filter(
        (one) => one !== null,
      );
    return {
      before: lines(Math.max(1, line - CONTEXT_LINES), line),
      line: own,
      after: lines(line + 1, line + 1 + CONTEXT_LINES),
    };
  }

  #getFunctionName(line: number, column: number): string | null {
    const script = this.#script;
    const found = script?.findFunction(line, column) ?? null;
    if (script === null || found === null) return null;
    const nameAt = (place: NamePlace): string | null => this.#getOriginalName(place, script);
    const owner = found.owner === null ? null : nameAt(found.owner);
    if (found.constructs) return owner === null ? 'constructor' : `new ${owner}`;
    const name = found.name === null ? null : nameAt(found.name);
    return name === null || owner === null ? name : `${owner}.${name}`;
  }

  /** From the map's names, otherwise the identifier at this position. */
  #getOriginalName({ offset, text }: NamePlace, script: LoadedScript): string | null {
    const { line, column } = script.toPosition(offset);
    const place = this.#findPlace(line, column);
    if (place?.name) return place.name.slice(0, MAX_NAME_LENGTH);
    if (text !== null) return text.slice(0, MAX_NAME_LENGTH);
    const written = place?.map.contents.getText(place.source)?.getLine(place.line, place.column, MAX_NAME_LENGTH);
    return NAME_PATTERN.exec(written ?? '')?.[0] ?? null;
  }
}

class LoadedScript {
  readonly #lines: readonly number[] | null;
  readonly #functions: ScriptFunctions | null;
  readonly bytes: number;

  constructor(bytes: Buffer) {
    // ASCII text uses one byte per character.
    const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
    this.#lines = findLineStarts(text);
    this.#functions = this.#lines === null ? null : parseFunctions(text, createCpuBudget(UPLOAD_LIMITS.scriptMs));
    // Names are slices that keep the whole text in memory.
    this.bytes = bytes.length + 8 * (this.#lines?.length ?? 0) + (this.#functions?.bytes ?? 0);
  }

  findFunction(line: number, column: number): ScriptFunction | null {
    const start = this.#lines?.[line - 1];
    return start === undefined ? null : (this.#functions?.findAt(start + column) ?? null);
  }

  toPosition(offset: number): { line: number; column: number } {
    const lines = this.#lines ?? [0];
    const line = findLine(lines, offset);
    return { line, column: offset - (lines[line - 1] ?? 0) };
  }
}

function findLineStarts(text: string): number[] | null {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (starts.length === UPLOAD_LIMITS.lines) return null;
    starts.push(at + 1);
  }
  return starts;
}

function findLine(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}
