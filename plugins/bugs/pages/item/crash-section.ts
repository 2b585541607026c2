import type { Json } from '../../../../ports/store/index.js';
import type { ItemSectionInput } from './section.js';
import { findMissingMaps } from './missing-maps.js';
import { FrameOwnerIndex } from '../trace/frame-owners.js';
import { FrameValueIndex } from '../trace/frame-values.js';
import { buildTrace } from '../trace/trace-view.js';

type OccurrencesWithContext = readonly { context?: Json }[];

export function buildCrashSection({ page, item, occurrences: { items } }: ItemSectionInput): object {
  const framed = items.find(({ context }) => hasFrames(context))?.context;
  return {
    trace: buildTrace(item.stack_trace, {
      file: item.file_path,
      line: item.line_no,
      owners: new FrameOwnerIndex(framed),
      values: new FrameValueIndex(framed),
    }),
    missing_maps: findMissingMaps(getNewestContext(items), item.project, page.baseUrl()),
  };
}

/** A missing map may have arrived later. */
const getNewestContext = (occurrences: OccurrencesWithContext): Json => occurrences[0]?.context ?? null;

const hasFrames = (context: Json | undefined): boolean =>
  typeof context === 'object' &&
  context !== null &&
  ('frames' in context || 'source' in context || 'locals' in context);
