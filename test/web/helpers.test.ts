import { expect } from 'chai';
import { buildBarPath } from '../../web/helpers/charts.js';
import { listTimeTicks } from '../../web/helpers/time-axis.js';
import fc from 'fast-check';
import { createHelpers, type Helper } from '../../web/helpers/index.js';
import { buildSparkPath } from '../../web/helpers/charts.js';
import { formatBytes } from '../../web/helpers/format.js';
import { escapeHtml } from '../../web/helpers/html.js';
import { toSafeUrl, buildUrl } from '../../web/helpers/links.js';
import { formatAge, formatDuration } from '../../web/helpers/time.js';
import { NOW, render } from './templates.js';

const zurich = createHelpers({ timezone: 'Europe/Zurich', now: () => NOW });

function call(name: string, ...args: unknown[]): string {
  const helper = zurich[name] as Helper;
  return String(helper(...args, { hash: {} }));
}

describe('display names of values', () => {
  const { 'label-of': labelOf, 'chips-of': chipsOf } = zurich;
  const projects = [{ value: 'shop', label: 'Online shop' }];

  it('label-of returns the label of a select option, or the value without a label', () => {
    const said = [labelOf?.(projects, 'shop'), labelOf?.(projects, 'gone'), labelOf?.(undefined, 'all')];
    expect(said).to.deep.equal(['Online shop', 'gone', 'all']);
  });

  it('chips-of returns the names of the values of a list parameter', () => {
    const query = { project: ['shop', 'gone'], status: 'open' };
    const chips = chipsOf?.('/errors', query, ['project', 'Project', 'status', 'Status'], {
      hash: { project: projects },
    });
    expect((chips as { value: string; href: string }[]).map(({ value }) => value)).to.deep.equal([
      'Online shop',
      'gone',
      'open',
    ]);
    expect((chips as { href: string }[])[0]?.href).to.equal('/errors?project=gone&status=open');
  });
});

describe('time helpers', () => {
  it('show the time zone, with UTC in the title, and the age next to the time or in the title', () => {
    const html = call('time', '2026-11-20T08:12:30.123Z');
    expect(html).to.include('datetime="2026-11-20T08:12:30.123Z"');
    expect(html).to.include(
      '>20 Nov 2026, 09:12 <span class="when-zone">CET</span> <span class="when-age age">3 min ago</span>',
    );
    const both = '20 Nov 2026, 09:12:30 GMT+1 · 2026-11-20 08:12:30.123 UTC';
    expect(html).to.include(`title="${both}"`);
    expect(render('{{time at mode="minute"}}', { at: '2026-11-20T08:12:30.123Z' })).to.include(
      `title="${both} · 3 min ago"`,
    );
  });

  it('distinguish the two hours when the clock goes back', () => {
    const [first, second] = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'].map((at) => call('time', at));
    expect(first).to.include('25 Oct 2026, 02:30 ').and.include('GMT+2');
    expect(second).to.include('25 Oct 2026, 02:30 ').and.include('GMT+1');
  });

  it('skip the hour that does not exist when the clock goes forward', () => {
    expect(call('local-time', '2026-03-29T00:59:59.000Z')).to.equal('29 Mar 2026, 01:59:59 CET');
    expect(call('local-time', '2026-03-29T01:00:00.000Z')).to.equal('29 Mar 2026, 03:00:00 CEST');
  });

  it('support zones with a quarter of an hour, and midnight as 00', () => {
    const nepal = createHelpers({ timezone: 'Asia/Kathmandu', now: () => NOW })['local-time'] as Helper;
    expect(nepal('2026-11-20T18:15:00.000Z')).to.equal('21 Nov 2026, 00:00:00 GMT+5:45');
  });

  it('use the time zone and hour format of the current user', () => {
    const reader = { timezone: 'America/New_York', hours: 12 };
    const at = '2026-11-20T20:05:09.000Z';
    expect(render('{{time at}}', { at, reader })).to.include(
      '>20 Nov 2026, 3:05 pm <span class="when-zone">GMT-5</span>',
    );
    expect(render('{{time at mode="stamp"}}', { at, reader })).to.include('>20 Nov 2026, 3:05:09 pm <span');
    expect(render('{{time at mode="date"}}', { at: '2026-11-20T03:00:00.000Z', reader })).to.include('>19 Nov 2026<');
    expect(render('{{local-time at}}', { at, reader })).to.equal('20 Nov 2026, 3:05:09 pm GMT-5');
    expect(render('{{#each (hour-titles 2)}}{{this}};{{/each}}', { reader })).to.equal(
      '20 Nov, 2:00 am GMT-5;20 Nov, 3:00 am GMT-5;',
    );
    expect(render('{{#each (hour-titles 2)}}{{this}};{{/each}}')).to.equal('20 Nov, 08:00 CET;20 Nov, 09:00 CET;');
    const midnight = render('{{time at}}', { at: '2026-11-20T05:00:00.000Z', reader });
    expect(midnight).to.include('20 Nov 2026, 12:00 am ');
  });

  it('leave times of public pages to the browser, without changing text', () => {
    const reader = { timezone: 'Europe/Zurich', hours: 24, public: true };
    const at = '2026-11-20T08:12:30.123Z';
    expect(render('{{time at mode="minute"}}', { at, reader })).to.equal(
      '<time class="when" datetime="2026-11-20T08:12:30.123Z" title="20 Nov 2026, 09:12:30 GMT+1 · 2026-11-20 08:12:30.123 UTC" data-time="minute">20 Nov 2026, 09:12 <span class="when-zone">CET</span></time>',
    );
    expect(render('{{time at}}', { at })).not.to.include('data-time');
  });

  it('reject an unknown zone at startup', () => {
    expect(() => createHelpers({ timezone: 'Mars/Olympus', now: () => 0 })).to.throw(RangeError);
  });

  it('print a dash, or the given text, for empty and invalid values', () => {
    for (const value of [null, undefined, '', 'soon', '<b>', Number.NaN]) expect(call('time', value)).to.include('>—<');
    expect(render('{{time at none="never"}}', { at: null })).to.include('>never<');
  });

  const ages: [number, string][] = [
    [0, 'just now'],
    [9_999, 'just now'],
    [10_000, '10 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_599_999, '59 min ago'],
    [3_600_000, '1 h ago'],
    [47 * 3_600_000, '47 h ago'],
    [48 * 3_600_000, '2 d ago'],
    [-7_200_000, 'in 2 h'],
    [800 * 86_400_000, '2 y ago'],
  ];
  for (const [ms, text] of ages) it(`print ${ms} ms as ${text}`, () => expect(formatAge(NOW - ms, NOW)).to.equal(text));

  const durations: [unknown, string][] = [
    [0, '0 s'],
    [0.25, '250 ms'],
    [59, '59 s'],
    [61, '1 min 1 s'],
    [3600, '1 h'],
    [93_784, '1 d 2 h'],
    [-90, '−1 min 30 s'],
    [null, '—'],
    ['x', '—'],
  ];
  for (const [seconds, text] of durations)
    it(`print ${String(seconds)} seconds as ${text}`, () => expect(formatDuration(seconds)).to.equal(text));
});

describe('numbers', () => {
  const sizes: [unknown, string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1_048_575, '1.0 MiB'],
    [5_368_709_120, '5.0 GiB'],
    [-1, '—'],
    [null, '—'],
  ];
  for (const [n, text] of sizes) it(`print ${String(n)} bytes as ${text}`, () => expect(formatBytes(n)).to.equal(text));

  it('are formatted with grouping, counts and percentages', () => {
    expect(call('num', 1234567)).to.equal('1,234,567');
    expect(call('plural', 1, 'item')).to.equal('1 item');
    expect(call('plural', 0, 'reply', 'replies')).to.equal('0 replies');
    expect(render('{{percent 1 of=3}} {{percent 0.425}} {{percent 1 of=0}}')).to.equal('33.3% 42.5% —');
  });
});

describe('links', () => {
  it('preserve the filters, and change or remove one of them', () => {
    expect(buildUrl('/bugs', { status: ['a', 'b'], cursor: 'x' }, { cursor: null, q: 'a b&c' })).to.equal(
      '/bugs?status=a&status=b&q=a+b%26c',
    );
  });

  it('allow only http and https', () => {
    for (const bad of [
      'javascript:alert(1)',
      ' JaVaScRiPt:1',
      'data:text/html,x',
      '//evil.example',
      'ftp://x',
      '/path',
      'http://',
      null,
    ]) {
      expect(toSafeUrl(bad), String(bad)).to.equal(null);
      expect(call('external-link', bad)).not.to.include('<a');
    }
    expect(call('external-link', 'https://example.org/a?b=1&c="')).to.include(
      'href="https://example.org/a?b&#x3D;1&amp;c&#x3D;%22"',
    );
  });

  it('never point to another target, for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((s) => `https://${s}`),
          fc.string().map((s) => `javascript:${s}`),
        ),
        (text) => {
          const target = toSafeUrl(text);
          expect(target === null || /^https?:\/\/[^/]/.test(target)).to.equal(true);
        },
      ),
    );
  });
});

describe('external texts', () => {
  const printers = [
    'badge',
    'severity-badge',
    'icon',
    'truncate',
    'external-link',
    'code-block',
    'stack-trace',
    'copy-command',
    'time',
    'sparkline',
  ];

  it('are escaped by every helper that generates markup', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '`', '=', 'a', ' ', '/', '\n') }),
        (text) => {
          for (const name of printers) {
            const html = String((zurich[name] as Helper)(`<hostile q9="${text}">${text}`, { hash: {} }));
            expect(html).not.to.match(/<hostile|q9="/);
            expect(html.match(/<[a ]*>/g) ?? []).to.deep.equal([]);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('are unchanged after escaping and parsing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const html = escapeHtml(text);
        expect(html).not.to.match(/[<>"'`=]/);
        const read = html.replace(/&(?:lt|gt|quot|amp|#x27|#x60|#x3D);/g, (entity) => {
          const table: Record<string, string> = {
            '&lt;': '<',
            '&gt;': '>',
            '&quot;': '"',
            '&amp;': '&',
            '&#x27;': "'",
            '&#x60;': '`',
            '&#x3D;': '=',
          };
          return table[entity] as string;
        });
        expect(read).to.equal(text);
      }),
    );
  });
});

describe('charts', () => {
  it('draw a line with zero at the bottom', () => {
    expect(buildSparkPath([0, 5, 10], 20, 10)).to.equal('M0,10L10,5L20,0');
    expect(buildSparkPath([0, 0], 10, 10)).to.equal('M0,10L10,10');
    expect(buildSparkPath([1], 10, 10)).to.equal('');
  });

  it('omit interior points of a flat line', () => {
    expect(buildSparkPath([0, 0, 0, 4, 4, 4, 0], 60, 8)).to.equal('M0,8L20,8L30,0L50,0L60,8');
    expect(render('{{sparkline v}}', { v: [0, 0, 0] }))
      .to.include('d="M0 22.5H96"')
      .and.not.include('spark-area');
  });

  it('stay inside their box, for any values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 2, maxLength: 40 }),
        (values) => {
          for (const number of buildSparkPath(values, 96, 24).match(/-?[\d.]+(?:e-?\d+)?/g) ?? [])
            expect(Number(number)).to.be.within(0, 96);
        },
      ),
    );
  });

  it('contain no inline style, and have an accessible name when they carry meaning', () => {
    const html = render(
      '{{bar-chart v label="Errors per hour" titles=t}}{{share-bar p label="States"}}{{progress-bar 3 7 label="Rule"}}',
      {
        v: [1, 0, 'x'],
        t: ['<08:00>'],
        p: [{ label: '<up>', value: 2, tone: 'success" onload="x' }],
      },
    );
    expect(html).not.to.match(/style=|<08|<up|onload="/);
    expect(html).to.include('aria-label="Errors per hour"').and.include('<title>&lt;08:00&gt;: 1</title>');
    expect(html).to.include(
      'role="progressbar" max="7" value="3" aria-valuemin="0" aria-valuemax="7" aria-valuenow="3" aria-label="Rule"',
    );
  });

  it('draw a series with an axis of round numbers, gaps, and single points', () => {
    const at = (minutes: number): string => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();
    const point = (minutes: number, avg: number): object => ({ t: at(minutes), avg, min: avg - 1, max: avg + 1 });
    const html = render('{{series-chart p from=f to=t bucket=60 mean=12 stddev=2 label="cpu <%>"}}', {
      p: [point(0, 10), point(1, 14), point(30, 12), point(59, 11), point(60, 13)],
      f: at(0),
      t: at(60),
    });
    const labels = [...html.matchAll(/text-anchor="end" dominant-baseline[^>]*>([^<]+)</g)].map(([, text]) =>
      Number(text),
    );
    expect(labels).to.deep.equal([8, 10, 12, 14, 16]);
    expect(html.match(/class="series-grid"/g)).to.have.length(5);
    const average = /class="series-line" d="([^"]+)"/.exec(html)?.[1] ?? '';
    expect(average.match(/M/g)).to.have.length(3);
    expect(html.match(/series-dot/g)).to.have.length(1);
    expect(html)
      .to.include('aria-label="cpu &lt;%&gt;"')
      .and.not.match(/style=|NaN|undefined/);
    expect(render('{{series-chart p label="cpu"}}', { p: [] })).to.equal('');
  });

  it('stack parts over days, with the values of each day and of the newest', () => {
    const series = [
      { label: '2.1 <b>', counts: [4, 3] },
      { label: '2.2', counts: [0, 2] },
    ];
    const html = render('{{area-chart s days=d label="Machines"}}', { s: series, d: ['2026-11-28', '2026-11-29'] });
    expect(html.match(/<path class="tone-(?:accent|info)" [^>]+ d="M[^"]+Z"/g)).to.have.length(2);
    expect(html).to.include('data-texts="28 Nov 2026: 2.1 &lt;b&gt; 4\n29 Nov 2026: 2.1 &lt;b&gt; 3, 2.2 2"');
    expect(html).to.include('<desc>29 Nov 2026: 2.1 &lt;b&gt; 3, 2.2 2</desc>').and.include('2.2 <b>2</b>');
    expect(html).to.not.match(/style=|NaN|undefined/);
    for (const days of [[], ['2026-11-29']])
      expect(render('{{area-chart s days=d}}', { s: series, d: days })).to.equal('');
  });

  it('name the newest releases on a chart, and those that do not overlap them', () => {
    const day = 86_400_000;
    const marks = [2, 9, 9.4, 10].map((at, i) => ({ at: new Date(at * day).toISOString(), label: `2.${i}.0` }));
    const html = render('{{traffic-chart counts from=0 step=step marks=marks}}', {
      counts: Array.from({ length: 12 }, () => 1),
      step: day,
      marks,
    });
    const names = [...html.matchAll(/<g[^>]*><text x="[^"]+" y="12"[^>]*>([^<]+)</g)].map(([, name]) => name);
    expect(names).to.deep.equal(['2.0.0', '2.1.0', '2.3.0']);
  });

  it('name the unit of a series, and limit the axis to zero and to 100% for a share', () => {
    const p = [1, 4, 2, 98].map((avg, i) => ({ t: new Date(i * 60_000).toISOString(), avg }));
    const axis = (more: object): string[] => {
      const context = { p, f: p[0]?.t, t: p.at(-1)?.t, mean: 3, ...more };
      const html = render('{{series-chart p from=f to=t bucket=60 mean=mean stddev=stddev unit=unit}}', context);
      return [...html.matchAll(/dominant-baseline[^>]*>([^<]+)</g)].map(([, text]) => String(text));
    };
    expect(axis({ stddev: 40, unit: 'ms' })).to.deep.equal(['0', '20', '40', '60', '80', '100 ms']);
    expect(axis({ stddev: 140, unit: '%' })).to.deep.equal(['0', '20', '40', '60', '80', '100 %']);
    expect(axis({ stddev: 140 })[0]).to.equal('0');
    expect(axis({ p: [{ ...p[0], avg: -5 }, p[3]], stddev: 1 })[0]).to.equal('−20');
  });

  it('scale columns of a row to their list, with a visible minimum', () => {
    expect(buildBarPath([0, 1, 500, 1000], 40, 20, 1000)).to.equal('M10,20v-2h7v2zM20,20v-10h7v10zM30,20v-20h7v20z');
    expect(buildBarPath([-5, 2000], 20, 20, 1000), 'none below zero, none above the whole').to.equal(
      'M10,20v-20h7v20z',
    );
    expect(buildBarPath([], 20, 20, 1)).to.equal('');
    const row = render('{{sparkline counts top=1000 label="Hits"}}', { counts: [0, 1000] });
    expect(row)
      .to.contain('class="spark-bars"')
      .and.contain('aria-label="Hits"')
      .and.not.match(/NaN|Infinity/);
    expect(render('{{sparkline counts top=0}}', { counts: [0, 0] }))
      .to.contain('spark-base')
      .and.not.contain('bars');
  });

  it('align times to the zone, also on the day when the clock goes back', () => {
    const ticks = (from: string, hours: number, zone: string): string[] =>
      listTimeTicks(Date.parse(from), Date.parse(from) + hours * 3_600_000, zone).map(({ label }) => label);
    expect(ticks('2026-11-21T09:17:00Z', 24, 'UTC')).to.deep.equal([
      '12:00',
      '16:00',
      '20:00',
      '22 Nov',
      '04:00',
      '08:00',
    ]);
    expect(ticks('2026-11-21T09:17:00Z', 24, 'Asia/Kolkata')).to.deep.equal([
      '16:00',
      '20:00',
      '22 Nov',
      '04:00',
      '08:00',
      '12:00',
    ]);
    expect(ticks('2026-10-24T20:00:00Z', 24, 'Europe/Berlin')).to.deep.equal([
      '25 Oct',
      '04:00',
      '08:00',
      '12:00',
      '16:00',
      '20:00',
    ]);
    expect(ticks('2026-10-20T09:00:00Z', 168, 'Europe/Berlin')).to.deep.equal([
      '21 Oct',
      '22 Oct',
      '23 Oct',
      '24 Oct',
      '25 Oct',
      '26 Oct',
      '27 Oct',
    ]);
    const [first, second] = listTimeTicks(
      Date.parse('2026-10-24T20:00:00Z'),
      Date.parse('2026-10-25T20:00:00Z'),
      'Europe/Berlin',
    );
    expect((second?.at ?? 0) - (first?.at ?? 0)).to.equal(5 * 3_600_000);
    expect(listTimeTicks(NaN, 5, 'UTC')).to.deep.equal([]);
    expect(listTimeTicks(5, 5, 'UTC')).to.deep.equal([]);
  });

  it('add the number of problems to the titles of state columns', () => {
    const columns = [
      { tone: 'critical', text: 'down', seconds: 90 },
      { tone: 'success', text: '<up>', seconds: null },
      { tone: '"x', text: 'odd' },
    ];
    const html = render('{{state-bar c titles=t label="Last <days>"}}', { c: columns, t: ['<mon>'] });
    expect(html).to.include('<title>&lt;mon&gt;: down for 1 min 30 s</title>').and.include('<title>&lt;up&gt;</title>');
    expect(html).to.include('aria-label="Last &lt;days&gt;: down in 1 of 3, in warning in 0"').and.include('tone-x');
    expect(render('{{state-bar none}}')).to.include('down in 0 of 0');
  });

  it('merge equal adjacent columns into a line, titled by the first and the last', () => {
    const up = { tone: 'success', text: 'up', seconds: null };
    const down = { tone: 'critical', text: 'down', seconds: 60 };
    const columns = [up, up, up, down, { ...down, seconds: 120 }, up];
    const html = render('{{state-bar c titles=t}}', { c: columns, t: ['1', '2', '3', '4', '5', '6'] });
    expect([...html.matchAll(/<path[^>]*><title>[^<]*/g)].map(([path]) => path)).to.deep.equal([
      '<path class="tone-success" d="M0 24h22"><title>1 to 3: up',
      '<path class="tone-critical" d="M24 24h6"><title>4: down for 1 min',
      '<path class="tone-critical" d="M32 24h6"><title>5: down for 2 min',
      '<path class="tone-success" d="M40 24h6"><title>6: up',
    ]);
    expect(html).to.include('viewBox="0 0 46 24"');
  });

  it('fit a series inside its box, for any values', () => {
    const value = fc.double({ noNaN: true, min: -1e12, max: 1e12 });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 30 }), fc.option(value), (values, mean) => {
        const p = values.map((avg, i) => ({ t: new Date(i * 60_000).toISOString(), avg }));
        const html = render('{{series-chart p from=f to=t bucket=60 mean=mean stddev=5}}', {
          p,
          f: p[0]?.t,
          t: p.at(-1)?.t,
          mean: mean ?? undefined,
        });
        expect(html).not.to.match(/NaN|Infinity|undefined/);
        for (const [, d = ''] of html.matchAll(/class="series-line" d="([^"]*)"/g)) {
          for (const [, x, y] of d.matchAll(/[ML]([\d.e+-]+),([\d.e+-]+)/g)) {
            expect(Number(x)).to.be.within(0, 720);
            expect(Number(y)).to.be.within(0, 150);
          }
        }
      }),
      // The least number there is, above a band that lies below zero.
      { examples: [[[5e-324], -5]] },
    );
  });

  it('limit progress to between 0 and 100 %', () => {
    expect(render('{{progress-bar 9 7}}')).to.include('value="7"');
    expect(render('{{progress-bar x y}}')).to.include('aria-valuenow="0"');
  });
});

describe('code', () => {
  it('preserves the lines of a trace and marks one line', () => {
    const html = render('  {{stack-trace text mark=1}}', { text: 'Error: a\r\n    at b (c.ts:1)\n' });
    expect(html.match(/trace-line/g)).to.have.length(2);
    expect(html).to.include(
      '<span class="trace-line is-marked"><span class="visually-hidden">(first frame) </span>    at b (c.ts:1)\n</span>',
    );
  });

  it('renders backticks in prose as escaped code, and leaves unpaired ones unchanged', () => {
    expect(render('{{prose t}}', { t: 'a `<b>` c ` d' })).to.equal('a <code>&lt;b&gt;</code> c &#x60; d');
  });

  it('shows values other than strings as JSON', () => {
    expect(render('{{code-block v}}', { v: { a: '<' } })).to.include('&quot;a&quot;: &quot;&lt;&quot;');
  });
});

describe('conditional helpers', () => {
  it('compare without type coercion', () => {
    expect(
      render('{{eq a b}} {{eq a c}} {{gt 3 2}} {{gt "b" "a"}} {{gt 3 "2"}} {{lte 2 2}}', { a: 1, b: '1', c: 1 }),
    ).to.equal('false true true true false true');
  });

  it('treat an empty list as false', () => {
    expect(
      render('{{#if (or none "")}}yes{{else}}no{{/if}} {{#if (and none 1)}}yes{{else}}no{{/if}} {{not none}}', {
        none: [],
      }),
    ).to.equal('no no true');
  });

  it('support choices, fallbacks and membership checks', () => {
    expect(
      render('{{choose t "y" "n"}} {{default x "" "z"}} {{includes l "b"}} {{length-of l}} {{concat "a" 1}}', {
        t: true,
        l: ['a', 'b'],
      }),
    ).to.equal('y z true 2 a1');
  });

  it('truncate text at character boundaries', () => {
    expect(render('{{truncate t 3}}', { t: '😀😀😀😀' })).to.equal('<span title="😀😀😀😀">😀😀…</span>');
  });

  it('describe a state in plain words', () => {
    expect(render('{{words "wont_fix"}} {{sentence "in_progress"}} {{initial "anna"}}')).to.equal(
      'won’t fix In progress A',
    );
    expect(render('{{badge "in_progress"}}')).to.equal(
      '<span class="badge badge-sign bg-primary-lt">In progress</span>',
    );
    expect(render('{{badge x}}')).to.equal('');
    expect(render('{{badge "off" tone="secondary"}}')).to.equal(
      '<span class="badge badge-sign bg-secondary-lt">Off</span>',
    );
    expect(render('{{badge "constructor" tone="__proto__"}}')).to.equal(
      '<span class="badge badge-sign bg-secondary-lt">Constructor</span>',
    );
  });
});

describe('lists', () => {
  const query = { status: ['open', 'closed'], q: 'a&b', cursor: 'c', muted: [false] };

  it('show a chip for every value of the given parameters, with a link that removes it', () => {
    const html = render(
      '{{#each (chips-of "/bugs" q (list-of "status" "Status" "q" "Search"))}}{{label}} {{value}} {{href}}|{{/each}}',
      { q: query },
    );
    expect(html.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')).to.equal(
      'Status open /bugs?status=closed&q=a%26b&muted=false|Status closed /bugs?status=open&q=a%26b&muted=false|Search a&b /bugs?status=open&status=closed&muted=false|',
    );
    expect(render('{{#each (chips-of "/bugs" nothing (list-of "q" "Search"))}}x{{/each}}')).to.equal('');
  });

  it('check whether a value is present, once or several times', () => {
    const source = '{{among v "open"}} {{first-of v}} {{count-of v}}';
    expect(render(source, { v: ['open', 'closed'] })).to.equal('true open 2');
    expect(render(source, { v: 'reopen' })).to.equal('false reopen 1');
    expect(render(source, {})).to.equal('false  0');
    expect(render('{{among v "false"}}', { v: [false] })).to.equal('true');
  });

  it('show and check the selected option of a menu', () => {
    const html = render('{{> pick name="s" label="Status" options=o values=v}}', {
      o: ['open', 'in_progress'],
      v: ['in_progress'],
    });
    expect(html)
      .to.include('Status: <b class="text-truncate">In progress</b>')
      .and.include('value="in_progress" checked');
    expect(html).to.include('value="open">').and.include('<legend class="visually-hidden">Status</legend>');
  });
});

describe('charts over time', () => {
  it('label hours in the service’s time zone and days in UTC, the current one last', () => {
    expect(zurich['hour-titles']?.(3)).to.deep.equal(['20 Nov, 07:00 CET', '20 Nov, 08:00 CET', '20 Nov, 09:00 CET']);
    expect(zurich['day-titles']?.(2)).to.deep.equal(['19 Nov', '20 Nov']);
    expect(zurich['hour-titles']?.('x')).to.deep.equal([]);
  });

  it('show new and regressed above the line, resolved below it, and the numbers of each day', () => {
    const days = [
      { date: '2026-11-19', new: 4, resolved: 1, regressed: 1 },
      { date: '<b>', new: 0, resolved: 0, regressed: 0 },
    ];
    const html = render('{{flow-chart d}}', { d: days });
    expect(html).to.include('<title>19 Nov: 4 new, 1 resolved, 1 regressed</title>').and.include('&lt;b&gt;: 0 new');
    expect(html.match(/flow-new|flow-resolved|flow-regressed/g)).to.have.length(3);
    expect(render('{{flow-chart d}}', { d: [] })).to.equal('');
  });
});

describe('value tree', () => {
  it('escapes keys and values and distinguishes types', () => {
    const html = render('{{json-tree v}}', {
      v: { '<k>': '<v>', n: 1, t: true, none: null, empty: [], inner: { a: ['x'] } },
    });
    expect(html)
      .to.include('&lt;k&gt;')
      .and.include('&lt;v&gt;')
      .and.not.match(/<[kv]>/);
    expect(html).to.include('is-number">1').and.include('is-null">[]').and.include('<details open><summary>inner');
  });

  it('is limited in depth and size', () => {
    let deep: unknown = 'x';
    for (let i = 0; i < 60; i++) deep = [deep];
    expect(render('{{json-tree v}}', { v: deep }).match(/<details/g)).to.have.length.below(15);
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    expect(render('{{json-tree v}}', { v: wide })).to.include('More values than are shown');
    expect(render('{{json-tree v}}', { v: { long: 'y'.repeat(2000) } })).to.include('tree-long');
  });
});
