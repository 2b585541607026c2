// Times of public pages by the reader's own clock: the browser's zone, and 12 or 24 hours as its language has them.
// Without scripts they stay in the zone that the server names beside each (web/helpers/reader.ts).
(() => {
  const { timeZone, hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
  const time = hourCycle?.startsWith('h1')
    ? { hour: 'numeric', hourCycle: 'h12' }
    : { hour: '2-digit', hourCycle: 'h23' };
  const day = { timeZone, day: 'numeric', month: 'short', year: 'numeric' };
  const zoned = { ...day, ...time, minute: '2-digit', timeZoneName: 'short' };
  const minute = new Intl.DateTimeFormat('en-GB', zoned);
  const second = new Intl.DateTimeFormat('en-GB', { ...zoned, second: '2-digit' });
  const date = new Intl.DateTimeFormat('en-GB', day);

  /** The text, and the zone in the element that the server made for it. */
  function write(element, format, at) {
    const text = format.format(at).replace(/[\u202f\u00a0]/g, ' ');
    const cut = text.lastIndexOf(' ');
    element.firstChild.textContent = `${text.slice(0, cut)} `;
    element.querySelector('.when-zone').textContent = text.slice(cut + 1);
  }

  function show(root) {
    for (const element of root.querySelectorAll('time[data-time]')) {
      const at = new Date(element.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      if (element.dataset.time === 'date') element.textContent = date.format(at);
      else if (element.dataset.time !== 'age') write(element, element.dataset.time === 'stamp' ? second : minute, at);
    }
    for (const name of root.querySelectorAll('[data-time-zone]')) name.textContent = timeZone;
  }
  show(document);
  // Markup that a page has asked for again, before it is compared with what stands there.
  document.addEventListener('aos:fetched', ({ detail }) => show(detail));
})();
