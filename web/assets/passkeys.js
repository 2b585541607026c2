// Prompts for passkeys. Forms stay hidden in browsers without WebAuthn.
import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';

const MESSAGES = {
  NotAllowedError: 'The prompt was canceled or timed out.',
  InvalidStateError: 'This device has a passkey for this account already.',
};

const prompt = { 'sign-in': startAuthentication, create: startRegistration };

async function submitPasskey(form) {
  const button = form.querySelector('button');
  const problem = form.querySelector('[data-passkey-error]');
  button.disabled = true;
  problem.hidden = true;
  try {
    form.elements.namedItem('credential').value = JSON.stringify(
      await prompt[form.dataset.passkey]({ optionsJSON: JSON.parse(form.dataset.options) }),
    );
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
    if (form.dataset.start !== undefined) void submitPasskey(form);
  }
