/** The rows of a stack trace, with runs of library frames and the middle of a recursion behind a click. Pure. */
import type { FrameValue } from './frame-values.js';

export interface ShownFrame {
  kind: 'frame';
  name: string | null;
  /** The path up to the file's name, the name, and `:41:27`. */
  folder: string;
  file: string;
  at: string;
  mark: boolean;
  library: string | null;
  /** Lines of code that the trace has with the frame (Python). */
  source: string[];
  /** What the reporter sent beside the text. */
  value: FrameValue | null;
}

export interface TraceNote {
  kind: 'note';
  text: string;
}

/** Frames behind a click. */
export interface Fold {
  kind: 'fold';
  label: string;
  frames: ShownFrame[];
}

export type Row = ShownFrame | TraceNote | Fold;

/** Own frames in a row from which the middle is folded (recursion). */
const MAX_LENGTH = 40;
const HEAD = 24;
const TAIL = 10;
const NAMES = 3;

/** The rows as the page shows them first. */
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

/** Folds two or more in a row; a single row takes no less room folded. */
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
