// A range of the chart of events (web/helpers/event-chart.ts): dragged over its columns, or with Shift and the arrow
// keys from a column, then Enter. Without scripts the form beside the chart does the same.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';

  function dress(chart) {
    const begins = chart.dataset.begins.split(' ');
    const columns = [...chart.querySelectorAll('.event-column')];
    const near = (i) => columns[i].querySelector('.event-near');
    // In the page only while a range is selected: what a script adds would count as a change (follow.js).
    const brush = document.createElementNS(SVG, 'rect');
    const paint = { class: 'event-brush', fill: 'var(--accent)', 'fill-opacity': 0.2, 'pointer-events': 'none' };
    for (const [name, text] of Object.entries(paint)) brush.setAttribute(name, text);
    const status = document.createElement('p');
    status.className = 'visually-hidden';
    status.setAttribute('role', 'status');

    let start = null;
    let end = null;
    let isDragged = false;
    const clear = () => {
      start = end = null;
      brush.remove();
      status.remove();
    };
    const show = (to) => {
      end = Math.min(Math.max(to, 0), columns.length - 1);
      const [low, high] = [Math.min(start, end), Math.max(start, end)];
      const [left, right] = [near(low), near(high)].map((rect) => parseFloat(rect.getAttribute('x')));
      brush.setAttribute('x', `${left}%`);
      brush.setAttribute('width', `${right - left + parseFloat(near(high).getAttribute('width'))}%`);
      for (const name of ['y', 'height']) brush.setAttribute(name, near(low).getAttribute(name));
      if (!brush.isConnected) {
        chart.prepend(brush);
        chart.after(status);
      }
      const words = [low, high].map((i) => columns[i].querySelector('.event-value').textContent);
      status.textContent = low === high ? words[0] : `From ${words[0]} to ${words[1]}`;
    };
    const open = () => {
      const [from, to] = [begins[Math.min(start, end)], begins[Math.max(start, end)]];
      location.assign(chart.dataset.brush.replace('BRUSH_FROM', from).replace('BRUSH_TO', to));
    };
    const indexAt = ({ clientX }) => {
      const box = chart.getBoundingClientRect();
      return Math.floor(((clientX - box.left) / box.width) * columns.length);
    };

    chart.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      isDragged = false;
      start = Math.min(Math.max(indexAt(event), 0), columns.length - 1);
    });
    // A link that is dragged would leave with the pointer.
    chart.addEventListener('dragstart', (event) => event.preventDefault());
    chart.addEventListener('pointermove', (event) => {
      if (start === null || event.buttons !== 1) return;
      if (indexAt(event) === start && !isDragged) return;
      isDragged = true;
      chart.setPointerCapture(event.pointerId);
      show(indexAt(event));
    });
    chart.addEventListener('pointerup', () => (isDragged ? open() : clear()));
    chart.addEventListener('pointercancel', clear);
    // The click that ends a drag opens no column.
    chart.addEventListener('click', (event) => isDragged && event.preventDefault(), true);
    chart.addEventListener('keydown', (event) => {
      const current = columns.indexOf(event.target.closest('.event-column'));
      if (event.key === 'Escape' && start !== null) clear();
      else if (event.key === 'Enter' && start !== null && !isDragged) open();
      else if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight') && current >= 0) {
        isDragged = false;
        start ??= current;
        show((end ?? start) + (event.key === 'ArrowLeft' ? -1 : 1));
      } else return;
      event.preventDefault();
    });
    chart.addEventListener('focusout', (event) => chart.contains(event.relatedTarget) || isDragged || clear());
  }

  const dressAll = (root) => root.querySelectorAll('.event-chart[data-brush]').forEach(dress);
  dressAll(document);
  document.addEventListener('aos:renewed', (event) => dressAll(event.detail));
})();
