/** A monitor in a snapshot: made where it is read (ports/rendering.ts). */
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { Render, Renderer } from '../../../ports/rendering.js';
import type { MonitorDoc } from '../model/documents.js';
import { jsonOf } from '../model/monitor.js';

export interface MonitorRow {
  id: string;
  source: string;
  name: string;
  state: MonitorState;
  alarm: MonitorDoc['alarm'];
  parent_source: string | null;
  suppressed_by: string | null;
  project: string | null;
  /** As the API shows it: JSON. */
  json: string;
}

export const render: Render<MonitorDoc, never, null> = (doc): MonitorRow => {
  const { id, source, name, state, alarm, parent_source, suppressed_by, project } = doc;
  return { id, source, name, state, alarm, parent_source, suppressed_by, project, json: jsonOf(doc) };
};

export const MONITOR_ROW: Renderer = { render, module: new URL(import.meta.url) };
