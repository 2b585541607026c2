// Charts of metrics: what is under the pointer is read out, and by arrow keys as a slider is. The picture itself and
// its axes come from the server (web/helpers/series.ts).
(() => {
  const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
  const digits = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 3 });

  function dress(plot) {
    const { first, bucket, from, to, unit = '', zone, hours } = plot.dataset;
    const clock = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      month: 'numeric',
      day: 'numeric',
      ...(hours === '12' ? { hour: 'numeric', hourCycle: 'h12' } : { hour: '2-digit', hourCycle: 'h23' }),
      minute: '2-digit',
      timeZoneName: 'short',
    });
    const texts = plot.dataset.texts?.split('\n');
    const points = plot.dataset.points.split(' ').map((text, i) => {
      const [at, avg, min, max, ghost] = text.split(',').map(Number);
      return { at: Number(first) + at * Number(bucket), avg, min, max, ghost, text: texts?.[i] };
    });
    const value = (number) => `${digits.format(number)}${unit && (unit === '%' ? unit : ` ${unit}`)}`;
    const textOf = ({ at, avg, min, max, ghost, text: given }) => {
      if (given) return given;
      const part = Object.fromEntries(clock.formatToParts(at).map(({ type, value: text }) => [type, text]));
      const when = `${part.day} ${MONTHS[part.month - 1]}, ${part.hour}:${part.minute}${part.dayPeriod ? ` ${part.dayPeriod}` : ''} ${part.timeZoneName}`;
      return `${when}: ${value(avg)}${min === max ? '' : ` (${digits.format(min)} to ${value(max)})`}${ghost === undefined ? '' : `, last week ${digits.format(ghost)}`}`;
    };

    const cursor = document.createElement('div');
    const read = document.createElement('div');
    cursor.className = 'series-cursor';
    read.className = 'series-read';
    cursor.hidden = read.hidden = true;
    plot.append(cursor, read);
    const label = plot.querySelector('svg').getAttribute('aria-label');
    for (const [name, text] of Object.entries({
      tabindex: 0,
      role: 'slider',
      'aria-label': label,
      'aria-valuemin': 0,
      'aria-valuemax': points.length - 1,
    })) {
      plot.setAttribute(name, text);
    }

    let shown = points.length - 1;
    const announce = () => {
      plot.setAttribute('aria-valuenow', shown);
      plot.setAttribute('aria-valuetext', textOf(points[shown]));
    };
    announce();
    const hide = () => {
      cursor.hidden = read.hidden = true;
    };
    const show = (index) => {
      shown = Math.min(Math.max(index, 0), points.length - 1);
      const point = points[shown];
      const place = Math.min(Math.max(((point.at - from) / (to - from)) * 100, 0), 100);
      cursor.style.left = read.style.left = `${place}%`;
      // At the left edge it begins there, at the right edge it ends there.
      read.style.transform = `translateX(-${place}%)`;
      read.textContent = textOf(point);
      cursor.hidden = read.hidden = false;
      announce();
    };
    plot.addEventListener('pointermove', ({ clientX }) => {
      const box = plot.getBoundingClientRect();
      const at = Number(from) + ((clientX - box.left) / box.width) * (to - from);
      const after = points.findIndex((point) => point.at >= at);
      const nearer = after > 0 && at - points[after - 1].at < points[after].at - at ? after - 1 : after;
      show(nearer < 0 ? points.length - 1 : nearer);
    });
    plot.addEventListener('pointerleave', () => document.activeElement !== plot && hide());
    plot.addEventListener('focus', () => show(shown));
    plot.addEventListener('blur', hide);
    plot.addEventListener('keydown', (event) => {
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
      const ends = { Home: 0, End: points.length - 1 };
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key in steps) show(shown + steps[event.key]);
      else if (event.key in ends) show(ends[event.key]);
      else return;
      event.preventDefault();
    });
  }

  const dressAll = (root) => root.querySelectorAll('[data-points]').forEach(dress);
  dressAll(document);
  // A part of the page that has come anew (follow.js).
  document.addEventListener('aos:renewed', (event) => dressAll(event.detail));
})();
