import type { Json } from '../../../../ports/store/index.js';
import type { ItemSectionInput } from './section.js';
import { findMissingMaps } from './missing-maps.js';
import { FrameOwnerIndex } from '../trace/frame-owners.js';
import { FrameValueIndex } from '../trace/frame-values.js';
import { buildTrace, type TraceView } from '../trace/trace-view.js';

export function buildCrashSection({ page, item, event: { event } }: ItemSectionInput): object {
  const context = event?.context ?? null;
  const framed = hasFrames(context) ? context : undefined;
  return {
    trace: hideRepeatedTitle(
      item,
      buildTrace(item.stack_trace, {
        file: item.file_path,
        line: item.line_no,
        owners: new FrameOwnerIndex(framed),
        values: new FrameValueIndex(framed),
      }),
    ),
    missing_maps: findMissingMaps(context, item.project, page.baseUrl()),
  };
}

const hasFrames = (context: Json | undefined): boolean =>
  typeof context === 'object' &&
  context !== null &&
  ('frames' in context || 'source' in context || 'locals' in context);

/** The heading of the page and the first line of a trace are often the same sentence. */
function hideRepeatedTitle(
  { title, exception_class, error_message }: ItemSectionInput['item'],
  trace: TraceView | null,
): TraceView | null {
  const [root, ...others] = trace?.tree ?? [];
  if (trace === null || root === undefined || others.length > 0 || root.relation !== null) return trace;
  const said = [title, error_message, `${exception_class}: ${error_message}`].map((text) => text?.trim());
  return said.includes(root.title.trim()) ? { ...trace, tree: [{ ...root, title: '' }] } : trace;
}
