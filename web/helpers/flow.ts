import { renderAttributes, escapeHtml, Html, memoize, toNumber, toText, splitArguments, type Helper } from './html.js';

const CHART_WIDTH = 720;
const getTitleFormat = memoize(
  () => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);

interface FlowDay {
  date: string;
  added: number;
  resolved: number;
  regressed: number;
}

const toDays = (value: unknown): FlowDay[] =>
  (Array.isArray(value) ? (value as Record<string, unknown>[]) : []).map((day) => ({
    date: toText(day['date']),
    added: Math.max(toNumber(day['new']) ?? 0, 0),
    resolved: Math.max(toNumber(day['resolved']) ?? 0, 0),
    regressed: Math.max(toNumber(day['regressed']) ?? 0, 0),
  }));

const formatDayTitle = ({ date, added, resolved, regressed }: FlowDay): string => {
  const at = Date.parse(date);
  const day = Number.isNaN(at) ? date : getTitleFormat().format(at);
  return `${day}: ${added} new, ${resolved} resolved, ${regressed} regressed`;
};

function renderFlowChart(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const days = toDays(values[0]);
  if (days.length === 0) return new Html('');
  const height = toNumber(hash['height']) ?? 120;
  const up = Math.max(...days.map(({ added, regressed }) => added + regressed));
  const down = Math.max(...days.map(({ resolved }) => resolved));
  const unit = (height - 2) / Math.max(up + down, 1);
  const ground = Math.round(up * unit) + 1;
  const step = CHART_WIDTH / days.length;
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
    return `<rect${renderAttributes(box)}/>`;
  };
  const columns = days.map((day, i) => {
    const added = day.added * unit;
    const again = day.regressed * unit;
    const parts = [
      bar('flow-new', i, ground - added, added),
      bar('flow-regressed', i, ground - added - again, again),
      bar('flow-resolved', i, ground + 1, day.resolved * unit),
    ];
    const hit = renderAttributes({ class: 'flow-day', x: round(i * step), y: 0, width: round(step), height });
    return `<g><title>${escapeHtml(formatDayTitle(day))}</title><rect${hit}/>${parts.join('')}</g>`;
  });
  const set = renderAttributes({
    class: 'flow',
    viewBox: `0 0 ${CHART_WIDTH} ${height}`,
    width: CHART_WIDTH,
    height,
    role: 'img',
    'aria-label': toText(hash['label']) || 'Issues opened, resolved and regressed per day',
    preserveAspectRatio: 'none',
  });
  return new Html(
    `<svg${set}>${columns.join('')}<path class="flow-line" d="M0 ${ground + 0.5}H${CHART_WIDTH}"/></svg>`,
  );
}

export const flowHelpers: Record<string, Helper> = { 'flow-chart': renderFlowChart };
