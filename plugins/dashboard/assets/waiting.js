// The page of a step's command says when what it sent has arrived, with the link to it.
(() => {
  const line = document.querySelector('[data-step-wait]');
  if (!line || !('EventSource' in window)) return;
  const text = line.querySelector('[data-step-text]');
  text.textContent = 'Waiting for your first event…';
  const source = new EventSource('/live?topics=bugs');
  let asking = false;

  async function look() {
    if (asking) return;
    asking = true;
    try {
      const answer = await fetch(line.dataset.stepWait, { headers: { accept: 'application/json' }, cache: 'no-store' });
      const { found } = answer.ok ? await answer.json() : {};
      if (!found) return;
      source.close();
      const link = document.createElement('a');
      link.href = found.href;
      link.textContent = found.label;
      text.replaceChildren('Event received: ', link);
      line.classList.add('is-done');
    } catch {
      // The next event asks again.
    } finally {
      asking = false;
    }
  }
  source.addEventListener('open', () => void look());
  source.addEventListener('changed', () => void look());
  addEventListener('pagehide', () => source.close());
})();
