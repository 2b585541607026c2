import type { FrameValue } from './frame-values.js';

export interface ShownFrame {
  kind: 'frame';
  name: string | null;
  folder: string;
  file: string;
  at: string;
  mark: boolean;
  library: string | null;
  source: string[];
  value: FrameValue | null;
}

export interface TraceNote {
  kind: 'note';
  text: string;
}

export interface Fold {
  kind: 'fold';
  label: string;
  frames: ShownFrame[];
}

export type Row = ShownFrame | TraceNote | Fold;

const MAX_LENGTH = 40;
const HEAD = 24;
const TAIL = 10;
const NAMES = 3;

export function folded(rows: readonly Row[]): Row[] {
  const frames = rows.filter((row) => row.kind === 'frame');
  const allForeign = frames.every(({ library }) => library !== null);
  const libraries = foldRuns(rows, (row) => row.library !== null && !(allForeign && row === frames[0]), libraryLabel);
  const shown = libraries.filter((row) => row.kind === 'frame');
  if (shown.length <= MAX_LENGTH) return libraries;
  const hidden = new Set(shown.slice(HEAD, -TAIL).filter(({ mark }) => !mark));
  return foldRuns(
    libraries,
    (row) => hidden.has(row),
    (run) => `${run.length} more frames`,
  );
}

function libraryLabel(run: readonly ShownFrame[]): string {
  const names = [...new Set(run.map(({ library }) => library ?? ''))].filter((name) => name !== '');
  const more = names.length > NAMES ? ` and ${names.length - NAMES} more` : '';
  return `${run.length} library frames: ${names.slice(0, NAMES).join(', ')}${more}`;
}

function foldRuns(
  rows: readonly Row[],
  hides: (row: ShownFrame) => boolean,
  label: (run: readonly ShownFrame[]) => string,
): Row[] {
  const shown: Row[] = [];
  let run: ShownFrame[] = [];
  const end = (): void => {
    if (run.length >= 2) shown.push({ kind: 'fold', label: label(run), frames: run });
    else shown.push(...run);
    run = [];
  };
  for (const row of rows) {
    if (row.kind === 'frame' && hides(row)) run.push(row);
    else {
      end();
      shown.push(row);
    }
  }
  end();
  return shown;
}
