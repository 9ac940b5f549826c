// Runs first and in old browsers too: without it, a page whose main script fails would show the
// loading sign forever.

// A missing feature is final; a failed fetch may succeed on another try.
function fail(words, again) {
  var trouble = document.getElementById('trouble'), line = document.createElement('p');
  line.textContent = words;
  trouble.textContent = '';
  trouble.appendChild(line);
  if (again) {
    var button = document.createElement('button');
    button.textContent = 'Try again';
    button.onclick = function () { location.reload(); };
    trouble.appendChild(button);
  }
  document.documentElement.setAttribute('data-failed', 'yes');
}

if (!('noModule' in HTMLScriptElement.prototype)) {
  fail('The arcade does not start in this browser: it has no modules. A newer browser has.', false);
}

// The main script did not load, or stopped before it could report an error.
addEventListener('error', function (event) {
  var root = document.documentElement, lost = event.target.src;
  if (root.hasAttribute('data-ready') || root.hasAttribute('data-failed')) return;
  if (!/page\.js/.test(lost || event.filename)) return;
  fail(lost ? 'The page could not be downloaded. Is there a connection?' : 'The page does not start: ' + event.message, true);
}, true);
