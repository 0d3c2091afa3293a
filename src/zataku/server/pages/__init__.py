"""The pages: their addresses, the HTML document that loads the web app, texts and languages."""
