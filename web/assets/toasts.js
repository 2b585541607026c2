// The message about the last action, and buttons that are at work: comfort only. A message closes by itself, not while
// a pointer or the focus is on it, and never when it reports a problem; Escape closes it.
(() => {
  const SHOWN_MS = 8000;
  /** A download leaves the page as it is: its button works again. */
  const BUSY_MS = 8000;
  const area = document.querySelector('[data-flash]');
  const toast = area?.querySelector('[data-toast]');
  if (toast) {
    let timer = 0;
    const lasts = toast.matches('.note-toast-danger, .note-toast-warning');
    const close = () => {
      clearTimeout(timer);
      if (toast.contains(document.activeElement)) document.getElementById('content').focus();
      toast.remove();
    };
    const wait = () => {
      clearTimeout(timer);
      if (!lasts) timer = setTimeout(close, SHOWN_MS);
    };
    const stay = () => clearTimeout(timer);
    const resume = () => {
      if (!toast.matches(':hover, :focus-within')) wait();
    };
    toast.addEventListener('pointerenter', stay);
    toast.addEventListener('focusin', stay);
    toast.addEventListener('pointerleave', resume);
    toast.addEventListener('focusout', () => setTimeout(resume, 0));
    const button = toast.querySelector('[data-toast-close]');
    button.hidden = false;
    button.addEventListener('click', close);
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      if (!document.querySelector('dialog[open], details[data-menu][open], details.drawer[open]')) close();
    });
    // A region that was there before its text is read aloud.
    toast.remove();
    requestAnimationFrame(() => {
      area.append(toast);
      wait();
    });
  }

  function finish(form) {
    delete form.dataset.busy;
    for (const button of form.querySelectorAll('[aria-busy]')) {
      button.removeAttribute('aria-busy');
      button.disabled = false;
    }
  }
  addEventListener('submit', (event) => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented || form.method !== 'post' || form.target) return;
    if (form.dataset.busy !== undefined) return event.preventDefault();
    form.dataset.busy = '';
    // Disabled only once the browser has collected the fields: the pressed button is one of them.
    setTimeout(() => {
      submitter?.setAttribute('aria-busy', 'true');
      if (submitter) submitter.disabled = true;
    }, 0);
    setTimeout(() => finish(form), BUSY_MS);
  });
  // "Back" shows the page as it was left.
  addEventListener('pageshow', (event) => {
    if (event.persisted) for (const form of document.querySelectorAll('form[data-busy]')) finish(form);
  });
})();
