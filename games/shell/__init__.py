"""What every game shares: the menu, the loop, the controls, the recorder. Nothing here knows softkit."""
