"""One live room with thousands of people in it: the server as it ships beside a plain broadcast loop."""
