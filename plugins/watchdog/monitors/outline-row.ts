/** A monitor in the hierarchy: what its page shows, made where it is read (ports/rendering.ts). */
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { Render, Renderer } from '../../../ports/rendering.js';
import type { MonitorDoc } from '../model/documents.js';
import { maintenanceOf, toSilenceView } from '../model/monitor.js';

export interface OutlineRow {
  source: string;
  name: string;
  state: MonitorState;
  /** Null while it is not down. */
  down_since: string | null;
  alarm: MonitorDoc['alarm'];
  parent_source: string | null;
  suppressed_by: string | null;
  /** When the maintenance window that it is in ends. */
  maintenance_until: string | null;
  /** When its silence ends. */
  silenced_until: string | null;
}

export const render: Render<MonitorDoc, never, null> = (doc): OutlineRow => {
  const { source, name, state, alarm, parent_source, suppressed_by } = doc;
  const down_since = state === 'down' ? doc.down_since_utc : null;
  const maintenance_until = maintenanceOf(doc)?.until ?? null;
  const silenced_until = toSilenceView(doc)?.until ?? null;
  return { source, name, state, down_since, alarm, parent_source, suppressed_by, maintenance_until, silenced_until };
};

export const OUTLINE_ROW: Renderer = { render, module: new URL(import.meta.url) };
