import type { Json } from '../../../../ports/store.js';
import type { About } from './about.js';
import { missingMapsOf } from './missing-maps.js';
import { FrameOwners } from '../trace/frame-owners.js';
import { FrameValues } from '../trace/frame-values.js';
import { traceOf } from '../trace/trace.js';

type Given = readonly { context?: Json }[];

export function crash({ page, item, occurrences: { items } }: About): object {
  const framed = items.find(({ context }) => hasFrames(context))?.context;
  return {
    trace: traceOf(item.stack_trace, {
      file: item.file_path,
      line: item.line_no,
      owners: new FrameOwners(framed),
      values: new FrameValues(framed),
    }),
    missing_maps: missingMapsOf(newestContext(items), item.project, page.baseUrl()),
  };
}

/** Returns the newest context, because a missing map may have arrived later. */
const newestContext = (occurrences: Given): Json => occurrences[0]?.context ?? null;

const hasFrames = (context: Json | undefined): boolean =>
  typeof context === 'object' &&
  context !== null &&
  ('frames' in context || 'source' in context || 'locals' in context);
