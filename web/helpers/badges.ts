import { renderAttributes, escapeHtml, Html, toText, splitArguments, type Helper } from './html.js';

type Tone = 'critical' | 'danger' | 'warning' | 'info' | 'success' | 'accent' | 'neutral';

const NAMED = new Map<string, Tone>(
  Object.entries({
    critical: 'critical',
    danger: 'danger',
    warning: 'warning',
    info: 'info',
    success: 'success',
    accent: 'accent',
    neutral: 'neutral',
    primary: 'accent',
    secondary: 'neutral',
  }),
);

/**
 * Tones by contract word; others are neutral. A Map, because an object would find `constructor`.
 */
const TONES = new Map<string, Tone>(
  Object.entries({
    critical: 'critical',
    fatal: 'critical',
    high: 'warning',
    error: 'neutral',
    medium: 'neutral',
    warning: 'warning',
    low: 'info',
    open: 'neutral',
    in_progress: 'accent',
    needs_info: 'warning',
    resolved: 'success',
    closed: 'neutral',
    wont_fix: 'neutral',
    duplicate: 'neutral',
    regression: 'warning',
    muted: 'neutral',
    claimed: 'accent',
    up: 'success',
    ok: 'success',
    on: 'success',
    off: 'neutral',
    ready: 'success',
    healthy: 'success',
    active: 'success',
    applied: 'success',
    running: 'accent',
    starting: 'accent',
    pending: 'warning',
    late: 'warning',
    degraded: 'warning',
    paused: 'neutral',
    disabled: 'neutral',
    stopped: 'neutral',
    archived: 'neutral',
    not_installed: 'neutral',
    unknown: 'neutral',
    new: 'info',
    down: 'critical',
    failed: 'warning',
    unhealthy: 'danger',
    revoked: 'neutral',
    expired: 'warning',
    suppressed: 'neutral',
    signed: 'success',
    unsigned: 'warning',
    admin: 'accent',
    member: 'neutral',
    installer: 'neutral',
    bug: 'neutral',
    feature: 'info',
  }),
);

/** `badge-sign` adds a sign, so that color is never the only difference. */
const BADGE_CLASSES: Record<Tone, string> = {
  critical: 'bg-critical',
  danger: 'bg-danger-lt',
  warning: 'bg-warning-lt',
  info: 'bg-info-lt',
  success: 'bg-success-lt',
  accent: 'bg-primary-lt',
  neutral: 'bg-secondary-lt',
};

const formatWords = (value: unknown): string =>
  value === 'wont_fix' ? 'won’t fix' : toText(value).replaceAll('_', ' ');
const initial = (value: unknown): string => Array.from(toText(value))[0]?.toUpperCase() ?? '';
const sentence = (value: unknown): string => initial(value) + Array.from(formatWords(value)).slice(1).join('');

function renderBadge(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const word = toText(values[0]);
  if (word === '') return new Html('');
  const tone = NAMED.get(toText(hash['tone'])) ?? TONES.get(word.toLowerCase()) ?? 'neutral';
  const label = escapeHtml(hash['label'] ?? sentence(word));
  const set = renderAttributes({ class: `badge badge-sign ${BADGE_CLASSES[tone]}`, title: hash['title'] });
  return new Html(`<span${set}>${label}</span>`);
}

const SEVERITY_TONES: Record<string, string> = { critical: 'critical', high: 'warning' };

const SEVERITY_STEPS = ['low', 'medium', 'high', 'critical'];
const SEVERITY_BADGES = new Map(SEVERITY_STEPS.map((step) => [step, drawSeverity(step)]));

const renderSeverity = (value: unknown): Html => SEVERITY_BADGES.get(toText(value)) ?? drawSeverity(toText(value));

function drawSeverity(word: string): Html {
  const filled = SEVERITY_STEPS.indexOf(word) + 1;
  const bar = (n: number): string => `M${n * 4 - 4} 10h3v-${n * 2.5}h-3z`;
  const bars = [1, 2, 3, 4].map(bar);
  const tone = SEVERITY_TONES[word] ?? 'secondary';
  return new Html(
    `<span class="severity text-${tone}"><svg viewBox="0 0 15 10" width="15" height="10" aria-hidden="true"><path d="${bars.slice(0, filled).join('')}"/><path opacity=".25" d="${bars.slice(filled).join('')}"/></svg>${escapeHtml(sentence(word))}</span>`,
  );
}

/** Cache of unnamed icons by name and class, because a page has about a hundred of a few kinds. */
const decorationCache = new Map<string, Html>();
const MAX_DECORATIONS = 500;

export function renderIcon(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const name = toText(values[0]).replace(/[^a-z0-9-]/g, '');
  const label = toText(hash['label']);
  const style = toText(hash['class']);
  if (label !== '') return renderSprite(name, style, label);
  const key = `${name} ${style}`;
  const known = decorationCache.get(key) ?? renderSprite(name, style, '');
  if (decorationCache.size < MAX_DECORATIONS) decorationCache.set(key, known);
  return known;
}

function renderSprite(name: string, style: string, label: string): Html {
  const set = renderAttributes({
    class: `icon ${style}`.trim(),
    width: 20,
    height: 20,
    role: label ? 'img' : undefined,
    'aria-label': label || undefined,
    'aria-hidden': label ? undefined : 'true',
  });
  return new Html(`<svg${set}><use href="/assets/icons.svg#i-${name}"></use></svg>`);
}

export const badgeHelpers: Record<string, Helper> = {
  badge: renderBadge,
  'severity-badge': renderSeverity,
  icon: renderIcon,
  words: formatWords,
  sentence,
  initial,
};
