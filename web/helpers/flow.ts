import { attributes, escape, Html, late, numeric, plain, split, type Helper } from './html.js';

const WIDTH = 720;
const title = late(() => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }));

interface Day {
  date: string;
  added: number;
  resolved: number;
  regressed: number;
}

const daysOf = (value: unknown): Day[] =>
  (Array.isArray(value) ? (value as Record<string, unknown>[]) : []).map((day) => ({
    date: plain(day['date']),
    added: Math.max(numeric(day['new']) ?? 0, 0),
    resolved: Math.max(numeric(day['resolved']) ?? 0, 0),
    regressed: Math.max(numeric(day['regressed']) ?? 0, 0),
  }));

const titleOf = ({ date, added, resolved, regressed }: Day): string => {
  const at = Date.parse(date);
  const day = Number.isNaN(at) ? date : title().format(at);
  return `${day}: ${added} new, ${resolved} resolved, ${regressed} regressed`;
};

function flow(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const days = daysOf(values[0]);
  if (days.length === 0) return new Html('');
  const height = numeric(hash['height']) ?? 120;
  const up = Math.max(...days.map(({ added, regressed }) => added + regressed));
  const down = Math.max(...days.map(({ resolved }) => resolved));
  const unit = (height - 2) / Math.max(up + down, 1);
  const ground = Math.round(up * unit) + 1;
  const step = WIDTH / days.length;
  const round = (n: number): number => Math.round(n * 100) / 100;
  const bar = (kind: string, i: number, y: number, tall: number): string => {
    if (tall <= 0) return '';
    const box = {
      class: kind,
      x: round(i * step + step * 0.14),
      y: round(y),
      width: round(step * 0.72),
      height: round(tall),
      rx: 1.5,
    };
    return `<rect${attributes(box)}/>`;
  };
  const columns = days.map((day, i) => {
    const added = day.added * unit;
    const again = day.regressed * unit;
    const parts = [
      bar('flow-new', i, ground - added, added),
      bar('flow-regressed', i, ground - added - again, again),
      bar('flow-resolved', i, ground + 1, day.resolved * unit),
    ];
    const hit = attributes({ class: 'flow-day', x: round(i * step), y: 0, width: round(step), height });
    return `<g><title>${escape(titleOf(day))}</title><rect${hit}/>${parts.join('')}</g>`;
  });
  const set = attributes({
    class: 'flow',
    viewBox: `0 0 ${WIDTH} ${height}`,
    width: WIDTH,
    height,
    role: 'img',
    'aria-label': plain(hash['label']) || 'New, resolved and regressed items per day',
    preserveAspectRatio: 'none',
  });
  return new Html(`<svg${set}>${columns.join('')}<path class="flow-line" d="M0 ${ground + 0.5}H${WIDTH}"/></svg>`);
}

export const flows: Record<string, Helper> = { 'flow-chart': flow };
