// Comfort only: without this file the form of /releases/new sends the package by itself. Drag, progress, cancel.
const form = document.getElementById('upload');
const file = form.elements.package;
const drop = form.querySelector('[data-upload-drop]');
const run = form.querySelector('[data-upload-run]');
const bar = run.querySelector('progress');
const said = run.querySelector('[data-upload-said]');
const problem = form.querySelector('[data-upload-problem]');
const submit = form.querySelector('button[type="submit"]');
const most = Number(form.dataset.most);
const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });
const size = (bytes) => `${whole.format(bytes / 1024 / 1024)} MiB`;
let sending = null;

form.querySelector('[data-upload-hint]').hidden = false;
for (const name of ['dragover', 'dragleave', 'drop']) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle('is-over', name === 'dragover');
    if (name === 'drop' && event.dataTransfer.files.length > 0) file.files = event.dataTransfer.files;
  });
}

function tell(text) {
  problem.textContent = text;
  problem.hidden = text === '';
  if (text !== '') problem.scrollIntoView({ block: 'nearest' });
}

/** Puts each fault below its control; answers those that have none. */
function tellBeside(faults) {
  const rest = [];
  for (const [name, text] of Object.entries(faults)) {
    const control = form.elements.namedItem(name);
    control?.closest?.('details')?.setAttribute('open', '');
    const help = control?.id && document.getElementById(`${control.id}-help`);
    if (!help) {
      rest.push(text);
      continue;
    }
    const below = document.createElement('div');
    below.className = 'invalid-feedback d-block';
    below.dataset.uploadFault = '';
    below.textContent = text;
    help.prepend(below);
    control.classList.add('is-invalid');
    control.setAttribute('aria-invalid', 'true');
  }
  form.querySelector('[aria-invalid="true"]')?.focus();
  return rest;
}

/** A text whose direction of writing moves nothing beside it. */
function directed(text) {
  const part = document.createElement('bdi');
  part.dir = 'auto';
  part.textContent = text;
  return part;
}

/** Says what will be published, in the confirmation and next to the folded fields. */
function describe() {
  const { product, version, channel, platform, rollout_percent: rollout } = form.elements;
  const machines = rollout.value === '100' ? 'all machines' : `${rollout.value || 0} % of machines`;
  const runs = platform.value === 'any' ? '' : ` (${platform.value})`;
  const name = `${product.selectedOptions[0]?.text ?? ''} ${version.value}`.trim();
  form.querySelector('[data-publish-place]').textContent = `${channel.value} · ${platform.value} · ${rollout.value} %`;
  form
    .querySelector('[data-publish-summary]')
    .replaceChildren(
      'Publishes ',
      directed(name),
      ' to ',
      directed(channel.value),
      `${runs} and offers it to ${machines} immediately. Issues that wait for this version are closed.`,
    );
}
form.addEventListener('input', describe);
describe();

/** Takes the faults of the last try away. */
function clear() {
  tell('');
  for (const below of form.querySelectorAll('.invalid-feedback')) below.remove();
  for (const control of form.querySelectorAll('[aria-invalid]')) {
    control.removeAttribute('aria-invalid');
    control.classList.remove('is-invalid');
  }
}

function idle() {
  sending = null;
  run.hidden = true;
  submit.disabled = false;
}

/** Shows the commands for the selected project. */
form.elements.product.addEventListener('change', async () => {
  const shown = document.querySelector('[data-publish-commands]');
  const response = await fetch(`/releases/new?product=${encodeURIComponent(form.elements.product.value)}`);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const next = page.querySelector('[data-publish-commands]');
  if (next) shown.replaceWith(next);
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (sending) return;
  form.querySelector('[data-publish-confirm]').removeAttribute('open');
  clear();
  if (file.files[0].size > most) {
    tellBeside({ package: `The package is larger than ${size(most)}.` });
    return;
  }
  sending = new XMLHttpRequest();
  sending.open('POST', form.getAttribute('action'));
  sending.setRequestHeader('accept', 'application/json');
  sending.responseType = 'json';
  sending.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.value = total === 0 ? 0 : (loaded / total) * 100;
    said.textContent = loaded < total ? `${size(loaded)} of ${size(total)}` : 'Uploaded. Checking and signing…';
  });
  sending.addEventListener('load', () => {
    const { status, response } = sending;
    if (status === 200 && response?.location) return location.assign(response.location);
    idle();
    const { message, fields } = response?.error ?? response ?? {};
    const rest = tellBeside(fields ?? {});
    tell([message ?? 'The release was not published.', ...rest].join(' '));
  });
  sending.addEventListener('error', () => {
    idle();
    tell('Connection lost. Nothing was published. Try again.');
  });
  sending.addEventListener('abort', () => {
    idle();
    tell('Upload canceled. Nothing was published.');
  });
  bar.value = 0;
  said.textContent = '';
  run.hidden = false;
  submit.disabled = true;
  sending.send(new FormData(form));
});
form.querySelector('[data-upload-cancel]').addEventListener('click', () => sending?.abort());
