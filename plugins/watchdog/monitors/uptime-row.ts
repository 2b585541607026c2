/** The uptime of a monitor's days: made where it is read (ports/rendering.ts). */
import type { Render, Renderer } from '../../../ports/rendering.js';
import type { MonitorDoc } from '../model/documents.js';
import { uptimeDays } from '../model/uptime.js';

/** Of the reading: the time in ms since 1970, and how many days are asked for. */
type Context = { now: number; days: number };

export interface UptimeRow {
  id: string;
  /** As the API shows it: JSON. */
  json: string;
}

export const render: Render<MonitorDoc, never, Context> = (doc, _beside, { now, days }): UptimeRow => ({
  id: doc.id,
  json: JSON.stringify(uptimeDays(doc, now, days)),
});

export const UPTIME_ROW: Renderer = { render, module: new URL(import.meta.url) };
