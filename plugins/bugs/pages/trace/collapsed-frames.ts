import type { FrameValue } from './frame-values.js';

export interface FrameRow {
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

export interface CollapsedFrames {
  kind: 'fold';
  label: string;
  frames: FrameRow[];
}

export type TraceRow = FrameRow | TraceNote | CollapsedFrames;

const MAX_RUN_LENGTH = 40;
const HEAD_LENGTH = 24;
const TAIL_LENGTH = 10;
const MAX_LABEL_NAMES = 3;

export function collapseFrames(rows: readonly TraceRow[]): TraceRow[] {
  const frames = rows.filter((row) => row.kind === 'frame');
  const allForeign = frames.every(({ library }) => library !== null);
  const libraries = collapseRuns(
    rows,
    (row) => row.library !== null && !(allForeign && row === frames[0]),
    buildLibraryLabel,
  );
  const shown = libraries.filter((row) => row.kind === 'frame');
  if (shown.length <= MAX_RUN_LENGTH) return libraries;
  const hidden = new Set(shown.slice(HEAD_LENGTH, -TAIL_LENGTH).filter(({ mark }) => !mark));
  return collapseRuns(
    libraries,
    (row) => hidden.has(row),
    (run) => `${run.length} more frames`,
  );
}

function buildLibraryLabel(run: readonly FrameRow[]): string {
  const names = [...new Set(run.map(({ library }) => library ?? ''))].filter((name) => name !== '');
  const more = names.length > MAX_LABEL_NAMES ? ` and ${names.length - MAX_LABEL_NAMES} more` : '';
  return `${run.length} library frames: ${names.slice(0, MAX_LABEL_NAMES).join(', ')}${more}`;
}

function collapseRuns(
  rows: readonly TraceRow[],
  hides: (row: FrameRow) => boolean,
  label: (run: readonly FrameRow[]) => string,
): TraceRow[] {
  const shown: TraceRow[] = [];
  let run: FrameRow[] = [];
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
