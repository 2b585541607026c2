/** A monitor as a page for visitors needs it: made where it is read (ports/rendering.ts). */
import type { MonitorCondition } from '../../../ports/domain/watchdog.js';
import type { Render, Renderer } from '../../../ports/rendering.js';
import type { MonitorDoc } from '../model/documents.js';
import { DAY_SECONDS, dailyUptime } from '../model/uptime.js';

/** Of the reading: the time in ms since 1970, and how many days are asked for. */
type Context = { now: number; days: number };

export const render: Render<MonitorDoc, never, Context> = (doc, _beside, { now, days }): MonitorCondition => {
  const { source, name, parent_source, state, project } = doc;
  const known = dailyUptime(doc, now, days).days.map(({ at, up_seconds, warning_seconds, down_seconds }) => ({
    day: at / (DAY_SECONDS * 1000),
    watched: up_seconds + warning_seconds + down_seconds,
    warning: warning_seconds,
    down: down_seconds,
  }));
  const first = known.findIndex(({ watched }) => watched > 0);
  const marked = first < 0 ? [] : known.slice(first).filter((one) => !isWholeAndUp(one));
  return {
    source,
    name,
    parent_source,
    project,
    public: doc.public,
    state,
    first_day: known[first]?.day ?? null,
    days: marked.map(({ day, watched, warning, down }) => [day, watched, warning, down]),
  };
};

const isWholeAndUp = ({ watched, warning, down }: { watched: number; warning: number; down: number }): boolean =>
  watched === DAY_SECONDS && warning === 0 && down === 0;

export const CONDITION_ROW: Renderer = { render, module: new URL(import.meta.url) };
