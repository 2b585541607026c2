// Prompts for passkeys. Forms stay hidden in browsers without WebAuthn.
import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';

const MESSAGES = {
  NotAllowedError: 'The prompt was canceled or timed out.',
  InvalidStateError: 'This device has a passkey for this account already.',
};

async function loadOptions(form) {
  if (form.dataset.options !== undefined) return JSON.parse(form.dataset.options);
  const response = await fetch('/login/passkey', { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error('The server did not start the sign-in. Try again.');
  return (await response.json()).options;
}

const prompt = {
  'sign-in': async (form) => startAuthentication({ optionsJSON: await loadOptions(form) }),
  create: async (form) => startRegistration({ optionsJSON: await loadOptions(form) }),
};

async function submitPasskey(form) {
  const button = form.querySelector('button');
  const problem = form.querySelector('[data-passkey-error]');
  button.disabled = true;
  problem.hidden = true;
  try {
    form.elements.namedItem('credential').value = JSON.stringify(await prompt[form.dataset.passkey](form));
    form.submit();
  } catch (error) {
    problem.textContent = MESSAGES[error.name] ?? error.message;
    problem.hidden = false;
    button.disabled = false;
  }
}

if (browserSupportsWebAuthn())
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    form.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void submitPasskey(form);
    });
  }
